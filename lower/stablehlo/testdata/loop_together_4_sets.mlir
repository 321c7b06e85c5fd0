module @xla {
  func.func public @main(%n: tensor<i32>, %a.set0: tensor<37x29xbf16>, %b.set0: tensor<29x43xbf16>, %a.set1: tensor<37x29xbf16>, %b.set1: tensor<29x43xbf16>, %a.set2: tensor<37x29xbf16>, %b.set2: tensor<29x43xbf16>, %a.set3: tensor<37x29xbf16>, %b.set3: tensor<29x43xbf16>) -> (tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>) {
    %0 = stablehlo.constant dense<0.0e+00> : tensor<37x43xbf16>
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.constant dense<8> : tensor<i32>
    %3 = stablehlo.remainder %n, %2 : tensor<i32>
    %4 = stablehlo.divide %n, %2 : tensor<i32>
    %20:15 = stablehlo.while(%limit.5 = %4, %round.6 = %1, %link.7 = %1, %a.set0.8 = %a.set0, %b.set0.9 = %b.set0, %a.set1.10 = %a.set1, %b.set1.11 = %b.set1, %a.set2.12 = %a.set2, %b.set2.13 = %b.set2, %a.set3.14 = %a.set3, %b.set3.15 = %b.set3, %o.set0.16 = %0, %o.set1.17 = %0, %o.set2.18 = %0, %o.set3.19 = %0) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
     cond {
      %21 = stablehlo.compare LT, %round.6, %limit.5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %22 = stablehlo.constant dense<2> : tensor<i32>
      %23 = stablehlo.constant dense<0> : tensor<i32>
      %39:15 = stablehlo.while(%limit.24 = %22, %round.25 = %23, %link.26 = %link.7, %a.set0.27 = %a.set0.8, %b.set0.28 = %b.set0.9, %a.set1.29 = %a.set1.10, %b.set1.30 = %b.set1.11, %a.set2.31 = %a.set2.12, %b.set2.32 = %b.set2.13, %a.set3.33 = %a.set3.14, %b.set3.34 = %b.set3.15, %o.set0.35 = %o.set0.16, %o.set1.36 = %o.set1.17, %o.set2.37 = %o.set2.18, %o.set3.38 = %o.set3.19) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
       cond {
        %40 = stablehlo.compare LT, %round.25, %limit.24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %40 : tensor<i1>
      } do {
        %41:3 = stablehlo.optimization_barrier %link.26, %a.set0.27, %b.set0.28 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
        %42:1 = func.call @launch(%41#1, %41#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
        %43:2 = stablehlo.optimization_barrier %41#0, %42#0 : tensor<i32>, tensor<37x43xbf16>
        %44:3 = stablehlo.optimization_barrier %43#0, %a.set1.29, %b.set1.30 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
        %45:1 = func.call @launch(%44#1, %44#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
        %46:2 = stablehlo.optimization_barrier %44#0, %45#0 : tensor<i32>, tensor<37x43xbf16>
        %47:3 = stablehlo.optimization_barrier %46#0, %a.set2.31, %b.set2.32 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
        %48:1 = func.call @launch(%47#1, %47#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
        %49:2 = stablehlo.optimization_barrier %47#0, %48#0 : tensor<i32>, tensor<37x43xbf16>
        %50:3 = stablehlo.optimization_barrier %49#0, %a.set3.33, %b.set3.34 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
        %51:1 = func.call @launch(%50#1, %50#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
        %52:2 = stablehlo.optimization_barrier %50#0, %51#0 : tensor<i32>, tensor<37x43xbf16>
        %53 = stablehlo.constant dense<1> : tensor<i32>
        %54 = stablehlo.add %round.25, %53 : tensor<i32>
        stablehlo.return %limit.24, %54, %52#0, %a.set0.27, %b.set0.28, %a.set1.29, %b.set1.30, %a.set2.31, %b.set2.32, %a.set3.33, %b.set3.34, %43#1, %46#1, %49#1, %52#1 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
      }
      %55 = stablehlo.constant dense<1> : tensor<i32>
      %56 = stablehlo.add %round.6, %55 : tensor<i32>
      stablehlo.return %limit.5, %56, %39#2, %a.set0.8, %b.set0.9, %a.set1.10, %b.set1.11, %a.set2.12, %b.set2.13, %a.set3.14, %b.set3.15, %39#11, %39#12, %39#13, %39#14 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
    }
    %57 = stablehlo.constant dense<4> : tensor<i32>
    %58 = stablehlo.divide %3, %57 : tensor<i32>
    %74:15 = stablehlo.while(%limit.59 = %58, %round.60 = %1, %link.61 = %20#2, %a.set0.62 = %20#3, %b.set0.63 = %20#4, %a.set1.64 = %20#5, %b.set1.65 = %20#6, %a.set2.66 = %20#7, %b.set2.67 = %20#8, %a.set3.68 = %20#9, %b.set3.69 = %20#10, %o.set0.70 = %20#11, %o.set1.71 = %20#12, %o.set2.72 = %20#13, %o.set3.73 = %20#14) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
     cond {
      %75 = stablehlo.compare LT, %round.60, %limit.59, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %75 : tensor<i1>
    } do {
      %76:3 = stablehlo.optimization_barrier %link.61, %a.set0.62, %b.set0.63 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %77:1 = func.call @launch(%76#1, %76#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %78:2 = stablehlo.optimization_barrier %76#0, %77#0 : tensor<i32>, tensor<37x43xbf16>
      %79:3 = stablehlo.optimization_barrier %78#0, %a.set1.64, %b.set1.65 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %80:1 = func.call @launch(%79#1, %79#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %81:2 = stablehlo.optimization_barrier %79#0, %80#0 : tensor<i32>, tensor<37x43xbf16>
      %82:3 = stablehlo.optimization_barrier %81#0, %a.set2.66, %b.set2.67 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %83:1 = func.call @launch(%82#1, %82#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %84:2 = stablehlo.optimization_barrier %82#0, %83#0 : tensor<i32>, tensor<37x43xbf16>
      %85:3 = stablehlo.optimization_barrier %84#0, %a.set3.68, %b.set3.69 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %86:1 = func.call @launch(%85#1, %85#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %87:2 = stablehlo.optimization_barrier %85#0, %86#0 : tensor<i32>, tensor<37x43xbf16>
      %88 = stablehlo.constant dense<1> : tensor<i32>
      %89 = stablehlo.add %round.60, %88 : tensor<i32>
      stablehlo.return %limit.59, %89, %87#0, %a.set0.62, %b.set0.63, %a.set1.64, %b.set1.65, %a.set2.66, %b.set2.67, %a.set3.68, %b.set3.69, %78#1, %81#1, %84#1, %87#1 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
    }
    %90 = stablehlo.constant dense<2> : tensor<i32>
    %91 = stablehlo.divide %3, %90 : tensor<i32>
    %92 = stablehlo.remainder %91, %90 : tensor<i32>
    %108:15 = stablehlo.while(%limit.93 = %92, %round.94 = %1, %link.95 = %74#2, %a.set0.96 = %74#3, %b.set0.97 = %74#4, %a.set1.98 = %74#5, %b.set1.99 = %74#6, %a.set2.100 = %74#7, %b.set2.101 = %74#8, %a.set3.102 = %74#9, %b.set3.103 = %74#10, %o.set0.104 = %74#11, %o.set1.105 = %74#12, %o.set2.106 = %74#13, %o.set3.107 = %74#14) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
     cond {
      %109 = stablehlo.compare LT, %round.94, %limit.93, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %109 : tensor<i1>
    } do {
      %110:3 = stablehlo.optimization_barrier %link.95, %a.set0.96, %b.set0.97 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %111:1 = func.call @launch(%110#1, %110#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %112:2 = stablehlo.optimization_barrier %110#0, %111#0 : tensor<i32>, tensor<37x43xbf16>
      %113:3 = stablehlo.optimization_barrier %112#0, %a.set1.98, %b.set1.99 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %114:1 = func.call @launch(%113#1, %113#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %115:2 = stablehlo.optimization_barrier %113#0, %114#0 : tensor<i32>, tensor<37x43xbf16>
      %116 = stablehlo.constant dense<1> : tensor<i32>
      %117 = stablehlo.add %round.94, %116 : tensor<i32>
      stablehlo.return %limit.93, %117, %115#0, %a.set0.96, %b.set0.97, %a.set1.98, %b.set1.99, %a.set2.100, %b.set2.101, %a.set3.102, %b.set3.103, %112#1, %115#1, %o.set2.106, %o.set3.107 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
    }
    %118 = stablehlo.constant dense<1> : tensor<i32>
    %119 = stablehlo.divide %3, %118 : tensor<i32>
    %120 = stablehlo.remainder %119, %90 : tensor<i32>
    %136:15 = stablehlo.while(%limit.121 = %120, %round.122 = %1, %link.123 = %108#2, %a.set0.124 = %108#3, %b.set0.125 = %108#4, %a.set1.126 = %108#5, %b.set1.127 = %108#6, %a.set2.128 = %108#7, %b.set2.129 = %108#8, %a.set3.130 = %108#9, %b.set3.131 = %108#10, %o.set0.132 = %108#11, %o.set1.133 = %108#12, %o.set2.134 = %108#13, %o.set3.135 = %108#14) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
     cond {
      %137 = stablehlo.compare LT, %round.122, %limit.121, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %137 : tensor<i1>
    } do {
      %138:3 = stablehlo.optimization_barrier %link.123, %a.set2.128, %b.set2.129 : tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>
      %139:1 = func.call @launch(%138#1, %138#2) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
      %140:2 = stablehlo.optimization_barrier %138#0, %139#0 : tensor<i32>, tensor<37x43xbf16>
      %141 = stablehlo.constant dense<1> : tensor<i32>
      %142 = stablehlo.add %round.122, %141 : tensor<i32>
      stablehlo.return %limit.121, %142, %140#0, %a.set0.124, %b.set0.125, %a.set1.126, %b.set1.127, %a.set2.128, %b.set2.129, %a.set3.130, %b.set3.131, %o.set0.132, %o.set1.133, %140#1, %o.set3.135 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x29xbf16>, tensor<29x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
    }
    return %136#11, %136#12, %136#13, %136#14 : tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>, tensor<37x43xbf16>
  }
  func.func private @launch(%a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> tensor<37x43xf32>
    %1 = stablehlo.convert %0 : (tensor<37x43xf32>) -> tensor<37x43xbf16>
    return %1 : tensor<37x43xbf16>
  }
}
