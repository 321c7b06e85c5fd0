module @xla {
  func.func public @main(%a: tensor<37x29xi4>, %b: tensor<29x43xi4>) -> (tensor<37x43xi8>) {
    %0:1 = func.call @launch(%a, %b) : (tensor<37x29xi4>, tensor<29x43xi4>) -> (tensor<37x43xi8>)
    return %0#0 : tensor<37x43xi8>
  }
  func.func private @launch(%a: tensor<37x29xi4>, %b: tensor<29x43xi4>) -> (tensor<37x43xi8>) {
    %0 = stablehlo.convert %a : (tensor<37x29xi4>) -> tensor<37x29xi8>
    %1 = stablehlo.convert %b : (tensor<29x43xi4>) -> tensor<29x43xi8>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xi8>, tensor<29x43xi8>) -> tensor<37x43xi32>
    %3 = stablehlo.constant dense<0> : tensor<37x43xi32>
    %4 = stablehlo.maximum %2, %3 : tensor<37x43xi32>
    %5 = stablehlo.constant dense<-128> : tensor<37x43xi32>
    %6 = stablehlo.constant dense<127> : tensor<37x43xi32>
    %7 = stablehlo.clamp %5, %4, %6 : tensor<37x43xi32>
    %8 = stablehlo.convert %7 : (tensor<37x43xi32>) -> tensor<37x43xi8>
    return %8 : tensor<37x43xi8>
  }
}
