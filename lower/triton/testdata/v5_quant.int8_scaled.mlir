module {
  tt.func public @v5_quant(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sa: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sb: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 24 : i32
    %2 = arith.divsi %0, %1 : i32
    %3 = arith.constant 4 : i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.remsi %0, %1 : i32
    %6 = arith.remsi %5, %3 : i32
    %7 = arith.addi %4, %6 : i32
    %8 = arith.divsi %5, %3 : i32
    // fill acc
    %9 = arith.constant 0 : i32
    %10 = arith.constant 6 : i32
    %11 = arith.constant 1 : i32
    %12 = arith.constant dense<0> : tensor<128x128xi32>
    %15 = arith.constant 64 : i32
    %17 = arith.constant 128 : i32
    %18 = arith.muli %7, %17 : i32
    %19 = arith.extsi %18 : i32 to i64
    %20 = arith.constant 384 : i64
    %21 = arith.muli %19, %20 : i64
    %22 = tt.addptr %a, %21 : !tt.ptr<i8>, i64
    %26 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %27 = tt.expand_dims %26 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %28 = arith.constant dense<384> : tensor<128x1xi32>
    %29 = arith.muli %27, %28 : tensor<128x1xi32>
    %30 = tt.broadcast %29 : tensor<128x1xi32> -> tensor<128x64xi32>
    %31 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %32 = tt.expand_dims %31 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %33 = tt.broadcast %32 : tensor<1x64xi32> -> tensor<128x64xi32>
    %34 = arith.addi %30, %33 : tensor<128x64xi32>
    %37 = arith.muli %8, %17 : i32
    %38 = arith.extsi %37 : i32 to i64
    %39 = tt.addptr %b, %38 : !tt.ptr<i8>, i64
    %40 = arith.constant 768 : i64
    %44 = tt.expand_dims %31 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %45 = arith.constant dense<768> : tensor<64x1xi32>
    %46 = arith.muli %44, %45 : tensor<64x1xi32>
    %47 = tt.broadcast %46 : tensor<64x1xi32> -> tensor<64x128xi32>
    %48 = tt.expand_dims %26 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %49 = tt.broadcast %48 : tensor<1x128xi32> -> tensor<64x128xi32>
    %50 = arith.addi %47, %49 : tensor<64x128xi32>
    %54 = scf.for %k_13 = %9 to %10 step %11 iter_args(%acc_14 = %12) -> (tensor<128x128xi32>) : i32 {
      // accumulate acc
      %16 = arith.muli %k_13, %15 : i32
      %23 = arith.extsi %16 : i32 to i64
      %24 = tt.addptr %22, %23 : !tt.ptr<i8>, i64
      %25 = tt.splat %24 : !tt.ptr<i8> -> tensor<128x64x!tt.ptr<i8>>
      %35 = tt.addptr %25, %34 : tensor<128x64x!tt.ptr<i8>>, tensor<128x64xi32>
      %36 = tt.load %35 : tensor<128x64x!tt.ptr<i8>>
      %41 = arith.muli %23, %40 : i64
      %42 = tt.addptr %39, %41 : !tt.ptr<i8>, i64
      %43 = tt.splat %42 : !tt.ptr<i8> -> tensor<64x128x!tt.ptr<i8>>
      %51 = tt.addptr %43, %50 : tensor<64x128x!tt.ptr<i8>>, tensor<64x128xi32>
      %52 = tt.load %51 : tensor<64x128x!tt.ptr<i8>>
      %53 = tt.dot %36, %52, %acc_14 : tensor<128x64xi8> * tensor<64x128xi8> -> tensor<128x128xi32>
      scf.yield %53 : tensor<128x128xi32>
    }
    // store o
    %55 = arith.sitofp %54 : tensor<128x128xi32> to tensor<128x128xf32>
    %56 = tt.splat %sa : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
    %57 = tt.load %56 : tensor<1x1x!tt.ptr<f32>>
    %58 = arith.constant dense<5.421011e-20> : tensor<1x1xf32>
    %59 = arith.maximumf %57, %58 : tensor<1x1xf32>
    %60 = arith.constant dense<1.8446744e+19> : tensor<1x1xf32>
    %61 = arith.minimumf %59, %60 : tensor<1x1xf32>
    %62 = tt.broadcast %61 : tensor<1x1xf32> -> tensor<128x128xf32>
    %63 = arith.mulf %55, %62 : tensor<128x128xf32>
    %64 = tt.splat %sb : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
    %65 = tt.load %64 : tensor<1x1x!tt.ptr<f32>>
    %66 = tt.broadcast %65 : tensor<1x1xf32> -> tensor<128x128xf32>
    %67 = arith.mulf %63, %66 : tensor<128x128xf32>
    %68 = tt.precise_divf %57, %61 : tensor<1x1xf32>
    %69 = tt.broadcast %68 : tensor<1x1xf32> -> tensor<128x128xf32>
    %70 = arith.mulf %67, %69 : tensor<128x128xf32>
    %71 = arith.truncf %70 : tensor<128x128xf32> to tensor<128x128xbf16>
    %72 = tt.addptr %o, %38 : !tt.ptr<bf16>, i64
    %73 = arith.muli %19, %40 : i64
    %74 = tt.addptr %72, %73 : !tt.ptr<bf16>, i64
    %75 = tt.splat %74 : !tt.ptr<bf16> -> tensor<128x128x!tt.ptr<bf16>>
    %76 = arith.constant dense<768> : tensor<128x1xi32>
    %77 = arith.muli %27, %76 : tensor<128x1xi32>
    %78 = tt.broadcast %77 : tensor<128x1xi32> -> tensor<128x128xi32>
    %79 = tt.broadcast %48 : tensor<1x128xi32> -> tensor<128x128xi32>
    %80 = arith.addi %78, %79 : tensor<128x128xi32>
    %81 = tt.addptr %75, %80 : tensor<128x128x!tt.ptr<bf16>>, tensor<128x128xi32>
    tt.store %81, %71 : tensor<128x128x!tt.ptr<bf16>>
    tt.return
  }
}
