module @jit_scan attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x256xbf16>, %arg1: tensor<8x256x256xbf16>) -> (tensor<256x256xbf16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg1, %iterArg_2 = %c_1, %iterArg_3 = %arg0) : tensor<8x256x256xbf16>, tensor<i32>, tensor<256x256xbf16>
    cond {
      %1 = stablehlo.compare LT, %iterArg_2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<8x256x256xbf16>, tensor<i32>) -> tensor<256x256xbf16>
      %2 = func.call @closed_call(%iterArg_3, %1) : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xbf16>
      %3 = stablehlo.add %iterArg_2, %c : tensor<i32>
      stablehlo.return %iterArg, %3, %2 : tensor<8x256x256xbf16>, tensor<i32>, tensor<256x256xbf16>
    }
    return %0#2 : tensor<256x256xbf16>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8x256x256xbf16>, %arg1: tensor<i32>) -> tensor<256x256xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 256, 256] : (tensor<8x256x256xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x256x256xbf16>) -> tensor<256x256xbf16>
    return %1 : tensor<256x256xbf16>
  }
  func.func private @closed_call(%arg0: tensor<256x256xbf16>, %arg1: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xbf16>
    %1 = stablehlo.tanh %0 : tensor<256x256xbf16>
    return %1 : tensor<256x256xbf16>
  }
}
