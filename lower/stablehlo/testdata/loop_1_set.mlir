module @xla {
  func.func public @main(%n: tensor<i32>, %a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.constant dense<0.0e+00> : tensor<37x43xbf16>
    %7:5 = stablehlo.while(%n.2 = %n, %round.3 = %0, %a.4 = %a, %b.5 = %b, %o.6 = %1) : tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>
     cond {
      %8 = stablehlo.compare LT, %round.3, %n.2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %9:3 = stablehlo.optimization_barrier %round.3, %a.4, %b.5 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %10:1 = func.call @launch(%9#1, %9#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %11:2 = stablehlo.optimization_barrier %9#0, %10#0 : tensor<i32>, tensor<37x43xbf16>
      %12 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.add %11#0, %12 : tensor<i32>
      stablehlo.return %n.2, %13, %a.4, %b.5, %11#1 : tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>
    }
    return %7#4 : tensor<37x43xbf16>
  }
  func.func private @launch(%a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> tensor<37x43xf32>
    %1 = stablehlo.convert %0 : (tensor<37x43xf32>) -> tensor<37x43xbf16>
    return %1 : tensor<37x43xbf16>
  }
}
