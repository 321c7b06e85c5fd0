module @xla attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["expert"=4]>
  func.func public @main(%rows: tensor<160x24xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>}, %w: tensor<192x20xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>}) -> (tensor<160x20xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>}) {
    %0 = stablehlo.reshape %rows : (tensor<160x24xbf16>) -> tensor<4x8x5x24xbf16>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"expert"}, {}, {}]> : tensor<4x8x5x24xbf16>
    %2 = stablehlo.reshape %w : (tensor<192x20xbf16>) -> tensor<8x24x20xbf16>
    %3 = stablehlo.dot_general %1, %2, batching_dims = [1] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x5x24xbf16>, tensor<8x24x20xbf16>) -> tensor<8x4x5x20xf32>
    %4 = stablehlo.convert %3 : (tensor<8x4x5x20xf32>) -> tensor<8x4x5x20xbf16>
    %5 = stablehlo.transpose %4, dims = [1, 0, 2, 3] : (tensor<8x4x5x20xbf16>) -> tensor<4x8x5x20xbf16>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {"expert"}, {}, {}]> : tensor<4x8x5x20xbf16>
    %7 = stablehlo.reshape %6 : (tensor<4x8x5x20xbf16>) -> tensor<160x20xbf16>
    return %7 : tensor<160x20xbf16>
  }
}
