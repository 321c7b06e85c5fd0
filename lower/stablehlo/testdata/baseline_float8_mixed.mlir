module @xla {
  func.func public @main(%a: tensor<37x29xf8E4M3FN>, %b: tensor<29x43xf8E5M2>) -> (tensor<37x43xf8E4M3FN>) {
    %0:1 = func.call @launch(%a, %b) : (tensor<37x29xf8E4M3FN>, tensor<29x43xf8E5M2>) -> (tensor<37x43xf8E4M3FN>)
    return %0#0 : tensor<37x43xf8E4M3FN>
  }
  func.func private @launch(%a: tensor<37x29xf8E4M3FN>, %b: tensor<29x43xf8E5M2>) -> (tensor<37x43xf8E4M3FN>) {
    %0 = stablehlo.convert %a : (tensor<37x29xf8E4M3FN>) -> tensor<37x29xbf16>
    %1 = stablehlo.convert %b : (tensor<29x43xf8E5M2>) -> tensor<29x43xbf16>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> tensor<37x43xf32>
    %3 = stablehlo.logistic %2 : tensor<37x43xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<37x43xf32>
    %5 = stablehlo.convert %4 : (tensor<37x43xf32>) -> tensor<37x43xf8E4M3FN>
    return %5 : tensor<37x43xf8E4M3FN>
  }
}
