module @xla {
  func.func public @main(%a: tensor<3x37x29xi8>, %b: tensor<3x43x29xi8>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) -> (tensor<3x37x43xbf16>) {
    %0:1 = func.call @launch(%a, %b, %sa, %sb) : (tensor<3x37x29xi8>, tensor<3x43x29xi8>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<3x37x43xbf16>)
    return %0#0 : tensor<3x37x43xbf16>
  }
  func.func private @launch(%a: tensor<3x37x29xi8>, %b: tensor<3x43x29xi8>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) -> (tensor<3x37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<3x37x29xi8>, tensor<3x43x29xi8>) -> tensor<3x37x43xi32>
    %1 = stablehlo.multiply %sa, %sb : tensor<1x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x1xf32>) -> tensor<f32>
    %3 = stablehlo.convert %0 : (tensor<3x37x43xi32>) -> tensor<3x37x43xf32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<3x37x43xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<3x37x43xf32>
    %6 = stablehlo.constant dense<7.0710677e-01> : tensor<3x37x43xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<3x37x43xf32>
    %8 = chlo.erf %7 : tensor<3x37x43xf32> -> tensor<3x37x43xf32>
    %9 = stablehlo.constant dense<1.0e+00> : tensor<3x37x43xf32>
    %10 = stablehlo.add %8, %9 : tensor<3x37x43xf32>
    %11 = stablehlo.constant dense<5.0e-01> : tensor<3x37x43xf32>
    %12 = stablehlo.multiply %5, %11 : tensor<3x37x43xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<3x37x43xf32>
    %14 = stablehlo.convert %13 : (tensor<3x37x43xf32>) -> tensor<3x37x43xbf16>
    return %14 : tensor<3x37x43xbf16>
  }
}
