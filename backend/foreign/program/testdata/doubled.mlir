module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40x56xf32>, %arg1: tensor<56x24xf32>) -> (tensor<40x24xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<40x56xf32>, tensor<56x24xf32>) -> tensor<40x24xf32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<40x24xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<40x24xf32>
    return %2 : tensor<40x24xf32>
  }
}
