module @xla {
  func.func public @main(%a: tensor<37x29xf32>, %b: tensor<29x43xf32>) -> (tensor<37x43xf32>) {
    %0:1 = func.call @launch(%a, %b) : (tensor<37x29xf32>, tensor<29x43xf32>) -> (tensor<37x43xf32>)
    return %0#0 : tensor<37x43xf32>
  }
  func.func private @launch(%a: tensor<37x29xf32>, %b: tensor<29x43xf32>) -> (tensor<37x43xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xf32>, tensor<29x43xf32>) -> tensor<37x43xf32>
    return %0 : tensor<37x43xf32>
  }
}
