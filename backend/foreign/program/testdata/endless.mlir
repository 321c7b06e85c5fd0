module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40x56xf32>, %arg1: tensor<56x24xf32>) -> (tensor<40x24xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<40x56xf32>, tensor<56x24xf32>) -> tensor<40x24xf32>
    %1 = stablehlo.while(%iterArg = %0) : tensor<40x24xf32>
    cond {
      %2 = stablehlo.slice %iterArg [0:1, 0:1] : (tensor<40x24xf32>) -> tensor<1x1xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x1xf32>) -> tensor<f32>
      %4 = stablehlo.is_finite %3 : (tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %2 = stablehlo.tanh %iterArg : tensor<40x24xf32>
      stablehlo.return %2 : tensor<40x24xf32>
    }
    return %1 : tensor<40x24xf32>
  }
}
