module @xla {
  func.func public @main(%a: tensor<3x37x29xi8>, %b: tensor<3x43x29xi8>, %sa: tensor<3x1x1xf32>, %sb: tensor<3x1x1xf32>) -> (tensor<3x37x43xbf16>) {
    %0:1 = func.call @launch(%a, %b, %sa, %sb) : (tensor<3x37x29xi8>, tensor<3x43x29xi8>, tensor<3x1x1xf32>, tensor<3x1x1xf32>) -> (tensor<3x37x43xbf16>)
    return %0#0 : tensor<3x37x43xbf16>
  }
  func.func private @launch(%a: tensor<3x37x29xi8>, %b: tensor<3x43x29xi8>, %sa: tensor<3x1x1xf32>, %sb: tensor<3x1x1xf32>) -> (tensor<3x37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<3x37x29xi8>, tensor<3x43x29xi8>) -> tensor<3x37x43xi32>
    %1 = stablehlo.convert %0 : (tensor<3x37x43xi32>) -> tensor<3x37x43xf32>
    %2 = stablehlo.constant dense<5.421011e-20> : tensor<3x1x1xf32>
    %3 = stablehlo.maximum %sa, %2 : tensor<3x1x1xf32>
    %4 = stablehlo.constant dense<1.8446744e+19> : tensor<3x1x1xf32>
    %5 = stablehlo.minimum %3, %4 : tensor<3x1x1xf32>
    %6 = stablehlo.divide %sa, %5 : tensor<3x1x1xf32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<3x1x1xf32>) -> tensor<3x37x43xf32>
    %8 = stablehlo.multiply %1, %7 : tensor<3x37x43xf32>
    %9 = stablehlo.broadcast_in_dim %sb, dims = [0, 1, 2] : (tensor<3x1x1xf32>) -> tensor<3x37x43xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<3x37x43xf32>
    %11 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x1x1xf32>) -> tensor<3x37x43xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<3x37x43xf32>
    %13 = stablehlo.constant dense<-7.0710677e-01> : tensor<3x37x43xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<3x37x43xf32>
    %15 = chlo.erfc %14 : tensor<3x37x43xf32> -> tensor<3x37x43xf32>
    %16 = stablehlo.constant dense<5.0e-01> : tensor<3x37x43xf32>
    %17 = stablehlo.multiply %15, %16 : tensor<3x37x43xf32>
    %18 = stablehlo.multiply %12, %17 : tensor<3x37x43xf32>
    %19 = stablehlo.convert %18 : (tensor<3x37x43xf32>) -> tensor<3x37x43xbf16>
    return %19 : tensor<3x37x43xbf16>
  }
}
