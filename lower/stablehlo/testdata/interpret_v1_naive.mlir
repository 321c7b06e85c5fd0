module @interpret {
  func.func public @main(%a: tensor<37x29xf32>, %b: tensor<29x43xf32>) -> (tensor<37x43xf32>) {
    %0:1 = func.call @launch(%a, %b) : (tensor<37x29xf32>, tensor<29x43xf32>) -> (tensor<37x43xf32>)
    return %0#0 : tensor<37x43xf32>
  }
  func.func private @launch(%a: tensor<37x29xf32>, %b: tensor<29x43xf32>) -> (tensor<37x43xf32>) {
    %0:1 = func.call @program0_v1_naive(%a, %b) : (tensor<37x29xf32>, tensor<29x43xf32>) -> (tensor<37x43xf32>)
    return %0#0 : tensor<37x43xf32>
  }
  // v1_naive: one program
  func.func private @program0_v1_naive(%a.0: tensor<37x29xf32>, %b.1: tensor<29x43xf32>) -> (tensor<37x43xf32>) {
    %2 = stablehlo.constant dense<0x7FC00000> : tensor<37x43xf32>
    %3 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.constant dense<37> : tensor<i32>
    %5 = stablehlo.multiply %3, %4 : tensor<i32>
    %6 = stablehlo.constant dense<29> : tensor<i32>
    %7 = stablehlo.multiply %3, %6 : tensor<i32>
    %8 = stablehlo.dynamic_slice %a.0, %5, %7, sizes = [37, 29] : (tensor<37x29xf32>, tensor<i32>, tensor<i32>) -> tensor<37x29xf32>
    %9 = stablehlo.multiply %3, %6 : tensor<i32>
    %10 = stablehlo.constant dense<43> : tensor<i32>
    %11 = stablehlo.multiply %3, %10 : tensor<i32>
    %12 = stablehlo.dynamic_slice %b.1, %9, %11, sizes = [29, 43] : (tensor<29x43xf32>, tensor<i32>, tensor<i32>) -> tensor<29x43xf32>
    %13 = stablehlo.multiply %3, %4 : tensor<i32>
    %14 = stablehlo.multiply %3, %10 : tensor<i32>
    %15 = stablehlo.dynamic_slice %2, %13, %14, sizes = [37, 43] : (tensor<37x43xf32>, tensor<i32>, tensor<i32>) -> tensor<37x43xf32>
    // store o
    %16 = stablehlo.dot_general %8, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xf32>, tensor<29x43xf32>) -> tensor<37x43xf32>
    %17 = stablehlo.dynamic_update_slice %2, %16, %13, %14 : (tensor<37x43xf32>, tensor<37x43xf32>, tensor<i32>, tensor<i32>) -> tensor<37x43xf32>
    return %17 : tensor<37x43xf32>
  }
}
