module @jit_loop attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x256xbf16>) -> (tensor<256x256xbf16> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %cst_0) : tensor<256x256xbf16>, tensor<f32>
    cond {
      %1 = stablehlo.compare LT, %iterArg_1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dot_general %iterArg, %iterArg, contracting_dims = [1] x [0] : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xbf16>
      %2 = stablehlo.convert %iterArg : (tensor<256x256xbf16>) -> tensor<256x256xf32>
      %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<f32>
      %4 = stablehlo.convert %3 : (tensor<f32>) -> tensor<bf16>
      %5 = stablehlo.convert %4 : (tensor<bf16>) -> tensor<f32>
      %6 = stablehlo.add %iterArg_1, %5 : tensor<f32>
      stablehlo.return %1, %6 : tensor<256x256xbf16>, tensor<f32>
    }
    return %0#0, %0#1 : tensor<256x256xbf16>, tensor<f32>
  }
}
