module {
  tt.func public @v3_block(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 24 : i32
    %2 = arith.divsi %0, %1 : i32
    %3 = arith.constant 4 : i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.remsi %0, %1 : i32
    %6 = arith.remsi %5, %3 : i32
    %7 = arith.addi %4, %6 : i32
    %8 = arith.divsi %5, %3 : i32
    // fill o
    %9 = arith.constant dense<0.0e+00> : tensor<128x128xbf16>
    %10 = arith.constant 128 : i32
    %11 = arith.muli %8, %10 : i32
    %12 = arith.muli %7, %10 : i32
    %13 = arith.extsi %11 : i32 to i64
    %14 = tt.addptr %o, %13 : !tt.ptr<bf16>, i64
    %15 = arith.extsi %12 : i32 to i64
    %16 = arith.constant 768 : i64
    %17 = arith.muli %15, %16 : i64
    %18 = tt.addptr %14, %17 : !tt.ptr<bf16>, i64
    %19 = tt.splat %18 : !tt.ptr<bf16> -> tensor<128x128x!tt.ptr<bf16>>
    %20 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %21 = tt.expand_dims %20 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %22 = arith.constant dense<768> : tensor<128x1xi32>
    %23 = arith.muli %21, %22 : tensor<128x1xi32>
    %24 = tt.broadcast %23 : tensor<128x1xi32> -> tensor<128x128xi32>
    %25 = tt.expand_dims %20 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %26 = tt.broadcast %25 : tensor<1x128xi32> -> tensor<128x128xi32>
    %27 = arith.addi %24, %26 : tensor<128x128xi32>
    %28 = tt.addptr %19, %27 : tensor<128x128x!tt.ptr<bf16>>, tensor<128x128xi32>
    tt.store %28, %9 : tensor<128x128x!tt.ptr<bf16>>
    %29 = arith.constant 0 : i32
    %30 = arith.constant 6 : i32
    %31 = arith.constant 1 : i32
    %33 = arith.constant 64 : i32
    %35 = arith.constant 384 : i64
    %36 = arith.muli %15, %35 : i64
    %37 = tt.addptr %a, %36 : !tt.ptr<bf16>, i64
    %41 = arith.constant dense<384> : tensor<128x1xi32>
    %42 = arith.muli %21, %41 : tensor<128x1xi32>
    %43 = tt.broadcast %42 : tensor<128x1xi32> -> tensor<128x64xi32>
    %44 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %45 = tt.expand_dims %44 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %46 = tt.broadcast %45 : tensor<1x64xi32> -> tensor<128x64xi32>
    %47 = arith.addi %43, %46 : tensor<128x64xi32>
    %50 = tt.addptr %b, %13 : !tt.ptr<bf16>, i64
    %54 = tt.expand_dims %44 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %55 = arith.constant dense<768> : tensor<64x1xi32>
    %56 = arith.muli %54, %55 : tensor<64x1xi32>
    %57 = tt.broadcast %56 : tensor<64x1xi32> -> tensor<64x128xi32>
    %58 = tt.broadcast %25 : tensor<1x128xi32> -> tensor<64x128xi32>
    %59 = arith.addi %57, %58 : tensor<64x128xi32>
    %62 = arith.constant dense<0.0e+00> : tensor<128x128xf32>
    scf.for %k_32 = %29 to %30 step %31 : i32 {
      // accumulate o
      %34 = arith.muli %k_32, %33 : i32
      %38 = arith.extsi %34 : i32 to i64
      %39 = tt.addptr %37, %38 : !tt.ptr<bf16>, i64
      %40 = tt.splat %39 : !tt.ptr<bf16> -> tensor<128x64x!tt.ptr<bf16>>
      %48 = tt.addptr %40, %47 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %49 = tt.load %48 : tensor<128x64x!tt.ptr<bf16>>
      %51 = arith.muli %38, %16 : i64
      %52 = tt.addptr %50, %51 : !tt.ptr<bf16>, i64
      %53 = tt.splat %52 : !tt.ptr<bf16> -> tensor<64x128x!tt.ptr<bf16>>
      %60 = tt.addptr %53, %59 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %61 = tt.load %60 : tensor<64x128x!tt.ptr<bf16>>
      %63 = tt.dot %49, %61, %62 : tensor<128x64xbf16> * tensor<64x128xbf16> -> tensor<128x128xf32>
      gpu.barrier
      %64 = tt.load %28 : tensor<128x128x!tt.ptr<bf16>>
      %65 = arith.extf %64 : tensor<128x128xbf16> to tensor<128x128xf32>
      %66 = arith.addf %65, %63 : tensor<128x128xf32>
      %67 = arith.truncf %66 : tensor<128x128xf32> to tensor<128x128xbf16>
      tt.store %28, %67 : tensor<128x128x!tt.ptr<bf16>>
    }
    tt.return
  }
}
