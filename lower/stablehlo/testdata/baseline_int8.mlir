module @xla {
  func.func public @main(%a: tensor<37x29xi8>, %b: tensor<29x43xi8>) -> (tensor<37x43xi32>) {
    %0:1 = func.call @launch(%a, %b) : (tensor<37x29xi8>, tensor<29x43xi8>) -> (tensor<37x43xi32>)
    return %0#0 : tensor<37x43xi32>
  }
  func.func private @launch(%a: tensor<37x29xi8>, %b: tensor<29x43xi8>) -> (tensor<37x43xi32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xi8>, tensor<29x43xi8>) -> tensor<37x43xi32>
    return %0 : tensor<37x43xi32>
  }
}
