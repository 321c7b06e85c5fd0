module @jit_block attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x512xbf16>, %arg1: tensor<512x512xbf16>, %arg2: tensor<512x256xbf16>, %arg3: tensor<512x256xbf16>, %arg4: tensor<512x512xbf16>, %arg5: tensor<512x1024xbf16>, %arg6: tensor<512x1024xbf16>, %arg7: tensor<1024x512xbf16>, %arg8: tensor<512xf32>, %arg9: tensor<512xf32>) -> (tensor<256x512xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %cst_3 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg0 : (tensor<256x512xbf16>) -> tensor<256x512xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<256x512xf32>
    %2 = stablehlo.reduce(%1 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<256x1xf32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %7 = stablehlo.add %5, %6 : tensor<256x1xf32>
    %8 = stablehlo.rsqrt %7 : tensor<256x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x512xf32>
    %10 = stablehlo.multiply %0, %9 : tensor<256x512xf32>
    %11 = stablehlo.broadcast_in_dim %arg8, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %13 = stablehlo.multiply %10, %12 : tensor<256x512xf32>
    %14 = stablehlo.convert %13 : (tensor<256x512xf32>) -> tensor<256x512xbf16>
    %15 = stablehlo.dot_general %14, %arg1, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %16 = stablehlo.reshape %15 : (tensor<256x512xbf16>) -> tensor<256x2x2x128xbf16>
    %17 = stablehlo.dot_general %14, %arg2, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<256x256xbf16>
    %18 = stablehlo.reshape %17 : (tensor<256x256xbf16>) -> tensor<256x2x128xbf16>
    %19 = stablehlo.dot_general %14, %arg3, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<256x256xbf16>
    %20 = stablehlo.reshape %19 : (tensor<256x256xbf16>) -> tensor<256x2x128xbf16>
    %21 = stablehlo.dot_general %18, %16, batching_dims = [1] x [1], contracting_dims = [2] x [3] : (tensor<256x2x128xbf16>, tensor<256x2x2x128xbf16>) -> tensor<2x256x256x2xf32>
    %22 = stablehlo.transpose %21, dims = [0, 3, 2, 1] : (tensor<2x256x256x2xf32>) -> tensor<2x2x256x256xf32>
    %23 = stablehlo.sqrt %cst_1 : tensor<f32>
    %24 = stablehlo.convert %23 : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<2x2x256x256xf32>
    %26 = stablehlo.divide %22, %25 : tensor<2x2x256x256xf32>
    %27 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %28 = call @tril(%27) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %29 = call @_where(%28, %26, %cst_0) : (tensor<256x256xi1>, tensor<2x2x256x256xf32>, tensor<f32>) -> tensor<2x2x256x256xf32>
    %30 = stablehlo.reduce(%29 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x256x256xf32>, tensor<f32>) -> tensor<2x2x256xf32>
    %31 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x256xf32>
    %32 = stablehlo.maximum %31, %30 : tensor<2x2x256xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x2x256xf32>) -> tensor<2x2x256x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<2x2x256x1xf32>) -> tensor<2x2x256x256xf32>
    %35 = stablehlo.subtract %29, %34 : tensor<2x2x256x256xf32>
    %36 = stablehlo.exponential %35 : tensor<2x2x256x256xf32>
    %37 = stablehlo.reduce(%36 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x2x256x256xf32>, tensor<f32>) -> tensor<2x2x256xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<2x2x256xf32>) -> tensor<2x2x256x1xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<2x2x256x1xf32>) -> tensor<2x2x256x256xf32>
    %40 = stablehlo.divide %36, %39 : tensor<2x2x256x256xf32>
    %41 = stablehlo.convert %40 : (tensor<2x2x256x256xf32>) -> tensor<2x2x256x256xbf16>
    %42 = stablehlo.dot_general %20, %41, batching_dims = [1] x [0], contracting_dims = [0] x [3] : (tensor<256x2x128xbf16>, tensor<2x2x256x256xbf16>) -> tensor<2x128x2x256xbf16>
    %43 = stablehlo.transpose %42, dims = [3, 0, 2, 1] : (tensor<2x128x2x256xbf16>) -> tensor<256x2x2x128xbf16>
    %44 = stablehlo.reshape %43 : (tensor<256x2x2x128xbf16>) -> tensor<256x512xbf16>
    %45 = stablehlo.dot_general %44, %arg4, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
    %46 = stablehlo.add %arg0, %45 : tensor<256x512xbf16>
    %47 = stablehlo.convert %46 : (tensor<256x512xbf16>) -> tensor<256x512xf32>
    %48 = stablehlo.multiply %47, %47 : tensor<256x512xf32>
    %49 = stablehlo.reduce(%48 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %51 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %52 = stablehlo.divide %50, %51 : tensor<256x1xf32>
    %53 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %54 = stablehlo.add %52, %53 : tensor<256x1xf32>
    %55 = stablehlo.rsqrt %54 : tensor<256x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x512xf32>
    %57 = stablehlo.multiply %47, %56 : tensor<256x512xf32>
    %58 = stablehlo.broadcast_in_dim %arg9, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %60 = stablehlo.multiply %57, %59 : tensor<256x512xf32>
    %61 = stablehlo.convert %60 : (tensor<256x512xf32>) -> tensor<256x512xbf16>
    %62 = stablehlo.dot_general %61, %arg5, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x1024xbf16>) -> tensor<256x1024xbf16>
    %63 = call @silu(%62) : (tensor<256x1024xbf16>) -> tensor<256x1024xbf16>
    %64 = stablehlo.dot_general %61, %arg6, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x1024xbf16>) -> tensor<256x1024xbf16>
    %65 = stablehlo.multiply %63, %64 : tensor<256x1024xbf16>
    %66 = stablehlo.dot_general %65, %arg7, contracting_dims = [1] x [0] : (tensor<256x1024xbf16>, tensor<1024x512xbf16>) -> tensor<256x512xbf16>
    %67 = stablehlo.add %46, %66 : tensor<256x512xbf16>
    return %67 : tensor<256x512xbf16>
  }
  func.func private @tril(%arg0: tensor<256x256xi1>) -> tensor<256x256xi1> {
    %c = stablehlo.constant dense<false> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.iota dim = 0 : tensor<256x256xi32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<256x256xi32>
    %2 = stablehlo.add %0, %1 : tensor<256x256xi32>
    %3 = stablehlo.iota dim = 1 : tensor<256x256xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<256x256xi1>, tensor<256x256xi1>
    return %6 : tensor<256x256xi1>
  }
  func.func private @_where(%arg0: tensor<256x256xi1>, %arg1: tensor<2x2x256x256xf32>, %arg2: tensor<f32>) -> tensor<2x2x256x256xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<256x256xi1>) -> tensor<2x2x256x256xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x256x256xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x256x256xi1>, tensor<2x2x256x256xf32>
    return %3 : tensor<2x2x256x256xf32>
  }
  func.func private @silu(%arg0: tensor<256x1024xbf16>) -> tensor<256x1024xbf16> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %0 = stablehlo.negate %arg0 : tensor<256x1024xbf16>
    %1 = stablehlo.exponential %0 : tensor<256x1024xbf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<256x1024xbf16>
    %3 = stablehlo.add %2, %1 : tensor<256x1024xbf16>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<256x1024xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<256x1024xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<256x1024xbf16>
    return %6 : tensor<256x1024xbf16>
  }
}
