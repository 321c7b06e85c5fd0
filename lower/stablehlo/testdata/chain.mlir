module @xla {
  func.func public @main(%link: tensor<i32>, %a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<i32>, tensor<37x43xbf16>) {
    %0:3 = stablehlo.optimization_barrier %link, %a, %b : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
    %1:1 = func.call @launch(%0#1, %0#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
    %2:2 = stablehlo.optimization_barrier %0#0, %1#0 : tensor<i32>, tensor<37x43xbf16>
    return %2#0, %2#1 : tensor<i32>, tensor<37x43xbf16>
  }
  func.func private @launch(%a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> tensor<37x43xf32>
    %1 = stablehlo.convert %0 : (tensor<37x43xf32>) -> tensor<37x43xbf16>
    return %1 : tensor<37x43xbf16>
  }
}
