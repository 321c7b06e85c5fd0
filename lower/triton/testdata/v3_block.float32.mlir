module {
  tt.func public @turn_b(%b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b_along_k: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 72 : i32
    %2 = arith.divsi %0, %1 : i32
    %3 = arith.constant 6 : i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.remsi %0, %1 : i32
    %6 = arith.remsi %5, %3 : i32
    %7 = arith.addi %4, %6 : i32
    %8 = arith.divsi %5, %3 : i32
    // store b_along_k
    %9 = arith.constant 64 : i32
    %10 = arith.muli %8, %9 : i32
    %11 = arith.muli %7, %9 : i32
    %12 = arith.extsi %10 : i32 to i64
    %13 = tt.addptr %b, %12 : !tt.ptr<f32>, i64
    %14 = arith.extsi %11 : i32 to i64
    %15 = arith.constant 768 : i64
    %16 = arith.muli %14, %15 : i64
    %17 = tt.addptr %13, %16 : !tt.ptr<f32>, i64
    %18 = tt.splat %17 : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %19 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %20 = tt.expand_dims %19 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %21 = arith.constant dense<768> : tensor<64x1xi32>
    %22 = arith.muli %20, %21 : tensor<64x1xi32>
    %23 = tt.broadcast %22 : tensor<64x1xi32> -> tensor<64x64xi32>
    %24 = tt.expand_dims %19 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %25 = tt.broadcast %24 : tensor<1x64xi32> -> tensor<64x64xi32>
    %26 = arith.addi %23, %25 : tensor<64x64xi32>
    %27 = tt.addptr %18, %26 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %28 = tt.load %27 : tensor<64x64x!tt.ptr<f32>>
    %29 = arith.constant 384 : i64
    %30 = arith.muli %12, %29 : i64
    %31 = tt.addptr %b_along_k, %30 : !tt.ptr<f32>, i64
    %32 = tt.addptr %31, %14 : !tt.ptr<f32>, i64
    %33 = tt.splat %32 : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %34 = tt.broadcast %20 : tensor<64x1xi32> -> tensor<64x64xi32>
    %35 = arith.constant dense<384> : tensor<1x64xi32>
    %36 = arith.muli %24, %35 : tensor<1x64xi32>
    %37 = tt.broadcast %36 : tensor<1x64xi32> -> tensor<64x64xi32>
    %38 = arith.addi %34, %37 : tensor<64x64xi32>
    %39 = tt.addptr %33, %38 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %39, %28 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
