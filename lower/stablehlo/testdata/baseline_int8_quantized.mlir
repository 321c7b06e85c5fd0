module @xla {
  func.func public @main(%a: tensor<3x37x29xi8>, %b: tensor<3x43x29xi8>, %sa: tensor<3x1x1xf32>, %sb: tensor<3x1x1xf32>) -> (tensor<3x37x43xbf16>) {
    %0:1 = func.call @launch(%a, %b, %sa, %sb) : (tensor<3x37x29xi8>, tensor<3x43x29xi8>, tensor<3x1x1xf32>, tensor<3x1x1xf32>) -> (tensor<3x37x43xbf16>)
    return %0#0 : tensor<3x37x43xbf16>
  }
  func.func private @launch(%a: tensor<3x37x29xi8>, %b: tensor<3x43x29xi8>, %sa: tensor<3x1x1xf32>, %sb: tensor<3x1x1xf32>) -> (tensor<3x37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<3x37x29xi8>, tensor<3x43x29xi8>) -> tensor<3x37x43xi32>
    %1 = stablehlo.convert %0 : (tensor<3x37x43xi32>) -> tensor<3x37x43xf32>
    %2 = stablehlo.multiply %sa, %sb : tensor<3x1x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x1x1xf32>) -> tensor<3x37x43xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<3x37x43xf32>
    %5 = stablehlo.constant dense<7.0710677e-01> : tensor<3x37x43xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<3x37x43xf32>
    %7 = chlo.erf %6 : tensor<3x37x43xf32> -> tensor<3x37x43xf32>
    %8 = stablehlo.constant dense<1.0e+00> : tensor<3x37x43xf32>
    %9 = stablehlo.add %7, %8 : tensor<3x37x43xf32>
    %10 = stablehlo.constant dense<5.0e-01> : tensor<3x37x43xf32>
    %11 = stablehlo.multiply %4, %10 : tensor<3x37x43xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<3x37x43xf32>
    %13 = stablehlo.convert %12 : (tensor<3x37x43xf32>) -> tensor<3x37x43xbf16>
    return %13 : tensor<3x37x43xbf16>
  }
}
