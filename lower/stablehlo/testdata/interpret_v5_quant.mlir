module @interpret {
  func.func public @main(%a: tensor<37x29xi8>, %b: tensor<29x43xi8>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) -> (tensor<37x43xbf16>) {
    %0:1 = func.call @launch(%a, %b, %sa, %sb) : (tensor<37x29xi8>, tensor<29x43xi8>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<37x43xbf16>)
    return %0#0 : tensor<37x43xbf16>
  }
  func.func private @launch(%a: tensor<37x29xi8>, %b: tensor<29x43xi8>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.convert %a : (tensor<37x29xi8>) -> tensor<37x29xi32>
    %1 = stablehlo.convert %b : (tensor<29x43xi8>) -> tensor<29x43xi32>
    %2:1 = func.call @program0_v5_quant(%0, %1, %sa, %sb) : (tensor<37x29xi32>, tensor<29x43xi32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<37x43xf32>)
    %3 = stablehlo.convert %2#0 : (tensor<37x43xf32>) -> tensor<37x43xbf16>
    return %3 : tensor<37x43xbf16>
  }
  // v5_quant: programs i = 0..0 x j = 0..5 x k = 0..1
  func.func private @program0_v5_quant(%a.0: tensor<37x29xi32>, %b.1: tensor<29x43xi32>, %sa.2: tensor<1x1xf32>, %sb.3: tensor<1x1xf32>) -> (tensor<37x43xf32>) {
    %4 = stablehlo.constant dense<-128> : tensor<i32>
    %5 = stablehlo.pad %a.0, %4, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<37x29xi32>, tensor<i32>) -> tensor<37x32xi32>
    %6 = stablehlo.pad %b.1, %4, low = [0, 0], high = [3, 5], interior = [0, 0] : (tensor<29x43xi32>, tensor<i32>) -> tensor<32x48xi32>
    %7 = stablehlo.constant dense<0x7FC00000> : tensor<37x48xf32>
    %8 = stablehlo.constant dense<-2147483648> : tensor<37x8xi32>
    %9 = stablehlo.constant dense<0> : tensor<i32>
    %17:7 = stablehlo.while(%step.10 = %9, %a.11 = %5, %b.12 = %6, %sa.13 = %sa.2, %sb.14 = %sb.3, %o.15 = %7, %acc.16 = %8) : tensor<i32>, tensor<37x32xi32>, tensor<32x48xi32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<37x48xf32>, tensor<37x8xi32>
     cond {
      %18 = stablehlo.constant dense<12> : tensor<i32>
      %19 = stablehlo.compare LT, %step.10, %18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %20 = stablehlo.constant dense<2> : tensor<i32>
      %21 = stablehlo.remainder %step.10, %20 : tensor<i32>
      %22 = stablehlo.divide %step.10, %20 : tensor<i32>
      %23 = stablehlo.constant dense<6> : tensor<i32>
      %24 = stablehlo.remainder %22, %23 : tensor<i32>
      %25 = stablehlo.constant dense<12> : tensor<i32>
      %26 = stablehlo.divide %step.10, %25 : tensor<i32>
      %27 = stablehlo.constant dense<37> : tensor<i32>
      %28 = stablehlo.multiply %26, %27 : tensor<i32>
      %29 = stablehlo.constant dense<16> : tensor<i32>
      %30 = stablehlo.multiply %21, %29 : tensor<i32>
      %31 = stablehlo.dynamic_slice %a.11, %28, %30, sizes = [37, 16] : (tensor<37x32xi32>, tensor<i32>, tensor<i32>) -> tensor<37x16xi32>
      %32 = stablehlo.multiply %21, %29 : tensor<i32>
      %33 = stablehlo.constant dense<8> : tensor<i32>
      %34 = stablehlo.multiply %24, %33 : tensor<i32>
      %35 = stablehlo.dynamic_slice %b.12, %32, %34, sizes = [16, 8] : (tensor<32x48xi32>, tensor<i32>, tensor<i32>) -> tensor<16x8xi32>
      %36 = stablehlo.constant dense<0> : tensor<i32>
      %37 = stablehlo.dynamic_slice %sa.13, %36, %36, sizes = [1, 1] : (tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %38 = stablehlo.dynamic_slice %sb.14, %36, %36, sizes = [1, 1] : (tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %39 = stablehlo.multiply %26, %27 : tensor<i32>
      %40 = stablehlo.multiply %24, %33 : tensor<i32>
      %41 = stablehlo.dynamic_slice %o.15, %39, %40, sizes = [37, 8] : (tensor<37x48xf32>, tensor<i32>, tensor<i32>) -> tensor<37x8xf32>
      // when k == 0
      %42 = stablehlo.compare EQ, %21, %36, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %43:1 = "stablehlo.if"(%42) ({
        // fill acc
        %44 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<i32>) -> tensor<37x8xi32>
        stablehlo.return %44 : tensor<37x8xi32>
      }, {
        stablehlo.return %acc.16 : tensor<37x8xi32>
      }) : (tensor<i1>) -> (tensor<37x8xi32>)
      // accumulate acc
      %45 = stablehlo.iota dim = 1 : tensor<37x16xi32>
      %46 = stablehlo.constant dense<29> : tensor<i32>
      %47 = stablehlo.subtract %46, %30 : tensor<i32>
      %48 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<i32>) -> tensor<37x16xi32>
      %49 = stablehlo.compare GE, %45, %48, SIGNED : (tensor<37x16xi32>, tensor<37x16xi32>) -> tensor<37x16xi1>
      %50 = stablehlo.constant dense<0> : tensor<37x16xi32>
      %51 = stablehlo.select %49, %50, %31 : tensor<37x16xi1>, tensor<37x16xi32>
      %52 = stablehlo.iota dim = 0 : tensor<16x8xi32>
      %53 = stablehlo.subtract %46, %30 : tensor<i32>
      %54 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
      %55 = stablehlo.compare GE, %52, %54, SIGNED : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
      %56 = stablehlo.constant dense<0> : tensor<16x8xi32>
      %57 = stablehlo.select %55, %56, %35 : tensor<16x8xi1>, tensor<16x8xi32>
      %58 = stablehlo.convert %51 : (tensor<37x16xi32>) -> tensor<37x16xi8>
      %59 = stablehlo.convert %57 : (tensor<16x8xi32>) -> tensor<16x8xi8>
      %60 = stablehlo.dot_general %58, %59, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x16xi8>, tensor<16x8xi8>) -> tensor<37x8xi32>
      %61 = stablehlo.add %43#0, %60 : tensor<37x8xi32>
      // when k == 1
      %62 = stablehlo.constant dense<1> : tensor<i32>
      %63 = stablehlo.compare EQ, %21, %62, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %64:1 = "stablehlo.if"(%63) ({
        // store o
        %65 = stablehlo.convert %61 : (tensor<37x8xi32>) -> tensor<37x8xf32>
        %66 = stablehlo.constant dense<5.421011e-20> : tensor<f32>
        %67 = stablehlo.broadcast_in_dim %66, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
        %68 = stablehlo.maximum %37, %67 : tensor<1x1xf32>
        %69 = stablehlo.constant dense<1.8446744e+19> : tensor<f32>
        %70 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
        %71 = stablehlo.minimum %68, %70 : tensor<1x1xf32>
        %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<37x8xf32>
        %73 = stablehlo.multiply %65, %72 : tensor<37x8xf32>
        %74 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<37x8xf32>
        %75 = stablehlo.multiply %73, %74 : tensor<37x8xf32>
        %76 = stablehlo.divide %37, %71 : tensor<1x1xf32>
        %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<37x8xf32>
        %78 = stablehlo.multiply %75, %77 : tensor<37x8xf32>
        %79 = stablehlo.reduce_precision %78, format = e8m7 : tensor<37x8xf32>
        stablehlo.return %79 : tensor<37x8xf32>
      }, {
        stablehlo.return %41 : tensor<37x8xf32>
      }) : (tensor<i1>) -> (tensor<37x8xf32>)
      %80 = stablehlo.dynamic_update_slice %o.15, %64#0, %39, %40 : (tensor<37x48xf32>, tensor<37x8xf32>, tensor<i32>, tensor<i32>) -> tensor<37x48xf32>
      %81 = stablehlo.add %step.10, %62 : tensor<i32>
      stablehlo.return %81, %a.11, %b.12, %sa.13, %sb.14, %80, %61 : tensor<i32>, tensor<37x32xi32>, tensor<32x48xi32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<37x48xf32>, tensor<37x8xi32>
    }
    %82 = stablehlo.slice %17#5 [0:37, 0:43] : (tensor<37x48xf32>) -> tensor<37x43xf32>
    return %82 : tensor<37x43xf32>
  }
}
