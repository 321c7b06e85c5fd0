module {
  tt.func public @v5_quant(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 28 : i32
    %2 = arith.divsi %0, %1 : i32
    %3 = arith.constant 4 : i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.remsi %0, %1 : i32
    %6 = arith.remsi %5, %3 : i32
    %7 = arith.addi %4, %6 : i32
    %8 = arith.divsi %5, %3 : i32
    // fill acc
    %9 = arith.constant 0 : i32
    %10 = arith.constant 5 : i32
    %11 = arith.constant 1 : i32
    %12 = arith.constant dense<0.0e+00> : tensor<128x128xf32>
    %15 = arith.constant 64 : i32
    %17 = arith.constant 300 : i32
    %19 = arith.constant 128 : i32
    %20 = arith.muli %7, %19 : i32
    %21 = arith.constant 500 : i32
    %22 = arith.subi %21, %20 : i32
    %23 = arith.extsi %20 : i32 to i64
    %24 = arith.constant 300 : i64
    %25 = arith.muli %23, %24 : i64
    %26 = tt.addptr %a, %25 : !tt.ptr<bf16>, i64
    %30 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %31 = tt.expand_dims %30 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %32 = arith.constant dense<300> : tensor<128x1xi32>
    %33 = arith.muli %31, %32 : tensor<128x1xi32>
    %34 = tt.broadcast %33 : tensor<128x1xi32> -> tensor<128x64xi32>
    %35 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %36 = tt.expand_dims %35 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %37 = tt.broadcast %36 : tensor<1x64xi32> -> tensor<128x64xi32>
    %38 = arith.addi %34, %37 : tensor<128x64xi32>
    %40 = tt.splat %22 : i32 -> tensor<128x1xi32>
    %41 = arith.cmpi slt, %31, %40 : tensor<128x1xi32>
    %42 = tt.broadcast %41 : tensor<128x1xi1> -> tensor<128x64xi1>
    %47 = arith.constant dense<0.0e+00> : tensor<128x64xbf16>
    %49 = arith.muli %8, %19 : i32
    %50 = arith.constant 778 : i32
    %51 = arith.subi %50, %49 : i32
    %52 = arith.extsi %49 : i32 to i64
    %53 = tt.addptr %b, %52 : !tt.ptr<bf16>, i64
    %54 = arith.constant 778 : i64
    %58 = tt.expand_dims %35 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %59 = arith.constant dense<778> : tensor<64x1xi32>
    %60 = arith.muli %58, %59 : tensor<64x1xi32>
    %61 = tt.broadcast %60 : tensor<64x1xi32> -> tensor<64x128xi32>
    %62 = tt.expand_dims %30 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %63 = tt.broadcast %62 : tensor<1x128xi32> -> tensor<64x128xi32>
    %64 = arith.addi %61, %63 : tensor<64x128xi32>
    %69 = tt.splat %51 : i32 -> tensor<1x128xi32>
    %70 = arith.cmpi slt, %62, %69 : tensor<1x128xi32>
    %71 = tt.broadcast %70 : tensor<1x128xi1> -> tensor<64x128xi1>
    %73 = arith.constant dense<0.0e+00> : tensor<64x128xbf16>
    %76 = scf.for %k_13 = %9 to %10 step %11 iter_args(%acc_14 = %12) -> (tensor<128x128xf32>) : i32 {
      // accumulate acc
      %16 = arith.muli %k_13, %15 : i32
      %18 = arith.subi %17, %16 : i32
      %27 = arith.extsi %16 : i32 to i64
      %28 = tt.addptr %26, %27 : !tt.ptr<bf16>, i64
      %29 = tt.splat %28 : !tt.ptr<bf16> -> tensor<128x64x!tt.ptr<bf16>>
      %39 = tt.addptr %29, %38 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %43 = tt.splat %18 : i32 -> tensor<1x64xi32>
      %44 = arith.cmpi slt, %36, %43 : tensor<1x64xi32>
      %45 = tt.broadcast %44 : tensor<1x64xi1> -> tensor<128x64xi1>
      %46 = arith.andi %42, %45 : tensor<128x64xi1>
      %48 = tt.load %39, %46, %47 : tensor<128x64x!tt.ptr<bf16>>
      %55 = arith.muli %27, %54 : i64
      %56 = tt.addptr %53, %55 : !tt.ptr<bf16>, i64
      %57 = tt.splat %56 : !tt.ptr<bf16> -> tensor<64x128x!tt.ptr<bf16>>
      %65 = tt.addptr %57, %64 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %66 = tt.splat %18 : i32 -> tensor<64x1xi32>
      %67 = arith.cmpi slt, %58, %66 : tensor<64x1xi32>
      %68 = tt.broadcast %67 : tensor<64x1xi1> -> tensor<64x128xi1>
      %72 = arith.andi %68, %71 : tensor<64x128xi1>
      %74 = tt.load %65, %72, %73 : tensor<64x128x!tt.ptr<bf16>>
      %75 = tt.dot %48, %74, %acc_14 : tensor<128x64xbf16> * tensor<64x128xbf16> -> tensor<128x128xf32>
      scf.yield %75 : tensor<128x128xf32>
    }
    // store o
    %77 = arith.truncf %76 : tensor<128x128xf32> to tensor<128x128xbf16>
    %78 = tt.addptr %o, %52 : !tt.ptr<bf16>, i64
    %79 = arith.muli %23, %54 : i64
    %80 = tt.addptr %78, %79 : !tt.ptr<bf16>, i64
    %81 = tt.splat %80 : !tt.ptr<bf16> -> tensor<128x128x!tt.ptr<bf16>>
    %82 = arith.constant dense<778> : tensor<128x1xi32>
    %83 = arith.muli %31, %82 : tensor<128x1xi32>
    %84 = tt.broadcast %83 : tensor<128x1xi32> -> tensor<128x128xi32>
    %85 = tt.broadcast %62 : tensor<1x128xi32> -> tensor<128x128xi32>
    %86 = arith.addi %84, %85 : tensor<128x128xi32>
    %87 = tt.addptr %81, %86 : tensor<128x128x!tt.ptr<bf16>>, tensor<128x128xi32>
    %88 = tt.broadcast %41 : tensor<128x1xi1> -> tensor<128x128xi1>
    %89 = tt.broadcast %70 : tensor<1x128xi1> -> tensor<128x128xi1>
    %90 = arith.andi %88, %89 : tensor<128x128xi1>
    tt.store %87, %77, %90 : tensor<128x128x!tt.ptr<bf16>>
    tt.return
  }
}
