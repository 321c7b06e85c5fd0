module @xla {
  func.func public @main(%n: tensor<i32>, %a.set0: tensor<37x29xbf16>, %b.set0: tensor<29x43xbf16>, %a.set1: tensor<37x29xbf16>, %b.set1: tensor<29x43xbf16>) -> (tensor<37x43xbf16>, tensor<37x43xbf16>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.constant dense<0.0e+00> : tensor<37x43xbf16>
    %10:8 = stablehlo.while(%n.2 = %n, %round.3 = %0, %a.set0.4 = %a.set0, %b.set0.5 = %b.set0, %a.set1.6 = %a.set1, %b.set1.7 = %b.set1, %o.set0.8 = %1, %o.set1.9 = %1) : tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
     cond {
      %11 = stablehlo.compare LT, %round.3, %n.2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %12:3 = stablehlo.optimization_barrier %round.3, %a.set0.4, %b.set0.5 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %13:1 = func.call @launch(%12#1, %12#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %14:2 = stablehlo.optimization_barrier %12#0, %13#0 : tensor<i32>, tensor<37x43xbf16>
      %15:3 = stablehlo.optimization_barrier %14#0, %a.set1.6, %b.set1.7 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %16:1 = func.call @launch(%15#1, %15#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %17:2 = stablehlo.optimization_barrier %15#0, %16#0 : tensor<i32>, tensor<37x43xbf16>
      %18 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %17#0, %18 : tensor<i32>
      stablehlo.return %n.2, %19, %a.set0.4, %b.set0.5, %a.set1.6, %b.set1.7, %14#1, %17#1 : tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
    }
    return %10#6, %10#7 : tensor<37x43xbf16>, tensor<37x43xbf16>
  }
  func.func private @launch(%a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> tensor<37x43xf32>
    %1 = stablehlo.convert %0 : (tensor<37x43xf32>) -> tensor<37x43xbf16>
    return %1 : tensor<37x43xbf16>
  }
}
