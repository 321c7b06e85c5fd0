module @jit_matmul attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40x56xf32>, %arg1: tensor<56x24xf32>) -> (tensor<40x24xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<40x56xf32>, tensor<56x24xf32>) -> tensor<40x24xf32>
    return %0 : tensor<40x24xf32>
  }
}
