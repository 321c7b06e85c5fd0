module {
  tt.func public @v5_quant(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
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
    %12 = arith.constant dense<0.0e+00> : tensor<128x128xf32>
    %15 = arith.constant 64 : i32
    %17 = arith.constant 128 : i32
    %18 = arith.muli %7, %17 : i32
    %19 = arith.extsi %18 : i32 to i64
    %20 = arith.constant 384 : i64
    %21 = arith.muli %19, %20 : i64
    %22 = tt.addptr %a, %21 : !tt.ptr<f32>, i64
    %26 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %27 = tt.expand_dims %26 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %28 = arith.constant dense<384> : tensor<128x1xi32>
    %29 = arith.muli %27, %28 : tensor<128x1xi32>
    %30 = tt.broadcast %29 : tensor<128x1xi32> -> tensor<128x16xi32>
    %31 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %32 = tt.expand_dims %31 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %33 = tt.broadcast %32 : tensor<1x16xi32> -> tensor<128x16xi32>
    %34 = arith.addi %30, %33 : tensor<128x16xi32>
    %37 = arith.muli %8, %17 : i32
    %38 = arith.extsi %37 : i32 to i64
    %39 = tt.addptr %b, %38 : !tt.ptr<f32>, i64
    %40 = arith.constant 768 : i64
    %44 = tt.expand_dims %31 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %45 = arith.constant dense<768> : tensor<16x1xi32>
    %46 = arith.muli %44, %45 : tensor<16x1xi32>
    %47 = tt.broadcast %46 : tensor<16x1xi32> -> tensor<16x128xi32>
    %48 = tt.expand_dims %26 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %49 = tt.broadcast %48 : tensor<1x128xi32> -> tensor<16x128xi32>
    %50 = arith.addi %47, %49 : tensor<16x128xi32>
    %54 = arith.constant 16 : i32
    %67 = arith.constant 32 : i32
    %80 = arith.constant 48 : i32
    %93 = scf.for %k_13 = %9 to %10 step %11 iter_args(%acc_14 = %12) -> (tensor<128x128xf32>) : i32 {
      // accumulate acc
      %16 = arith.muli %k_13, %15 : i32
      %23 = arith.extsi %16 : i32 to i64
      %24 = tt.addptr %22, %23 : !tt.ptr<f32>, i64
      %25 = tt.splat %24 : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>>
      %35 = tt.addptr %25, %34 : tensor<128x16x!tt.ptr<f32>>, tensor<128x16xi32>
      %36 = tt.load %35 : tensor<128x16x!tt.ptr<f32>>
      %41 = arith.muli %23, %40 : i64
      %42 = tt.addptr %39, %41 : !tt.ptr<f32>, i64
      %43 = tt.splat %42 : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>>
      %51 = tt.addptr %43, %50 : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
      %52 = tt.load %51 : tensor<16x128x!tt.ptr<f32>>
      %53 = tt.dot %36, %52, %acc_14, inputPrecision = ieee : tensor<128x16xf32> * tensor<16x128xf32> -> tensor<128x128xf32>
      %55 = arith.addi %16, %54 : i32
      %56 = arith.extsi %55 : i32 to i64
      %57 = tt.addptr %22, %56 : !tt.ptr<f32>, i64
      %58 = tt.splat %57 : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>>
      %59 = tt.addptr %58, %34 : tensor<128x16x!tt.ptr<f32>>, tensor<128x16xi32>
      %60 = tt.load %59 : tensor<128x16x!tt.ptr<f32>>
      %61 = arith.muli %56, %40 : i64
      %62 = tt.addptr %39, %61 : !tt.ptr<f32>, i64
      %63 = tt.splat %62 : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>>
      %64 = tt.addptr %63, %50 : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
      %65 = tt.load %64 : tensor<16x128x!tt.ptr<f32>>
      %66 = tt.dot %60, %65, %53, inputPrecision = ieee : tensor<128x16xf32> * tensor<16x128xf32> -> tensor<128x128xf32>
      %68 = arith.addi %16, %67 : i32
      %69 = arith.extsi %68 : i32 to i64
      %70 = tt.addptr %22, %69 : !tt.ptr<f32>, i64
      %71 = tt.splat %70 : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>>
      %72 = tt.addptr %71, %34 : tensor<128x16x!tt.ptr<f32>>, tensor<128x16xi32>
      %73 = tt.load %72 : tensor<128x16x!tt.ptr<f32>>
      %74 = arith.muli %69, %40 : i64
      %75 = tt.addptr %39, %74 : !tt.ptr<f32>, i64
      %76 = tt.splat %75 : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>>
      %77 = tt.addptr %76, %50 : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
      %78 = tt.load %77 : tensor<16x128x!tt.ptr<f32>>
      %79 = tt.dot %73, %78, %66, inputPrecision = ieee : tensor<128x16xf32> * tensor<16x128xf32> -> tensor<128x128xf32>
      %81 = arith.addi %16, %80 : i32
      %82 = arith.extsi %81 : i32 to i64
      %83 = tt.addptr %22, %82 : !tt.ptr<f32>, i64
      %84 = tt.splat %83 : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>>
      %85 = tt.addptr %84, %34 : tensor<128x16x!tt.ptr<f32>>, tensor<128x16xi32>
      %86 = tt.load %85 : tensor<128x16x!tt.ptr<f32>>
      %87 = arith.muli %82, %40 : i64
      %88 = tt.addptr %39, %87 : !tt.ptr<f32>, i64
      %89 = tt.splat %88 : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>>
      %90 = tt.addptr %89, %50 : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
      %91 = tt.load %90 : tensor<16x128x!tt.ptr<f32>>
      %92 = tt.dot %86, %91, %79, inputPrecision = ieee : tensor<128x16xf32> * tensor<16x128xf32> -> tensor<128x128xf32>
      scf.yield %92 : tensor<128x128xf32>
    }
    // store o
    %94 = tt.addptr %o, %38 : !tt.ptr<f32>, i64
    %95 = arith.muli %19, %40 : i64
    %96 = tt.addptr %94, %95 : !tt.ptr<f32>, i64
    %97 = tt.splat %96 : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %98 = arith.constant dense<768> : tensor<128x1xi32>
    %99 = arith.muli %27, %98 : tensor<128x1xi32>
    %100 = tt.broadcast %99 : tensor<128x1xi32> -> tensor<128x128xi32>
    %101 = tt.broadcast %48 : tensor<1x128xi32> -> tensor<128x128xi32>
    %102 = arith.addi %100, %101 : tensor<128x128xi32>
    %103 = tt.addptr %97, %102 : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %103, %93 : tensor<128x128x!tt.ptr<f32>>
    tt.return
  }
}
