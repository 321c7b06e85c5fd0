module @interpret {
  func.func public @main(%a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0:1 = func.call @launch(%a, %b) : (tensor<37x29xbf16>, tensor<29x43xbf16>) -> (tensor<37x43xbf16>)
    return %0#0 : tensor<37x43xbf16>
  }
  func.func private @launch(%a: tensor<37x29xbf16>, %b: tensor<29x43xbf16>) -> (tensor<37x43xbf16>) {
    %0 = stablehlo.convert %a : (tensor<37x29xbf16>) -> tensor<37x29xf32>
    %1 = stablehlo.convert %b : (tensor<29x43xbf16>) -> tensor<29x43xf32>
    %2:1 = func.call @program0_v3_block(%0, %1) : (tensor<37x29xf32>, tensor<29x43xf32>) -> (tensor<37x43xf32>)
    %3 = stablehlo.convert %2#0 : (tensor<37x43xf32>) -> tensor<37x43xbf16>
    return %3 : tensor<37x43xbf16>
  }
  // v3_block: programs i = 0..2 x j = 0..2 x k = 0..3
  func.func private @program0_v3_block(%a.0: tensor<37x29xf32>, %b.1: tensor<29x43xf32>) -> (tensor<37x43xf32>) {
    %2 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %3 = stablehlo.pad %a.0, %2, low = [0, 0], high = [11, 3], interior = [0, 0] : (tensor<37x29xf32>, tensor<f32>) -> tensor<48x32xf32>
    %4 = stablehlo.pad %b.1, %2, low = [0, 0], high = [3, 5], interior = [0, 0] : (tensor<29x43xf32>, tensor<f32>) -> tensor<32x48xf32>
    %5 = stablehlo.constant dense<0x7FC00000> : tensor<48x48xf32>
    %6 = stablehlo.constant dense<0> : tensor<i32>
    %11:4 = stablehlo.while(%step.7 = %6, %a.8 = %3, %b.9 = %4, %o.10 = %5) : tensor<i32>, tensor<48x32xf32>, tensor<32x48xf32>, tensor<48x48xf32>
     cond {
      %12 = stablehlo.constant dense<36> : tensor<i32>
      %13 = stablehlo.compare LT, %step.7, %12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %14 = stablehlo.constant dense<4> : tensor<i32>
      %15 = stablehlo.remainder %step.7, %14 : tensor<i32>
      %16 = stablehlo.divide %step.7, %14 : tensor<i32>
      %17 = stablehlo.constant dense<3> : tensor<i32>
      %18 = stablehlo.remainder %16, %17 : tensor<i32>
      %19 = stablehlo.constant dense<12> : tensor<i32>
      %20 = stablehlo.divide %step.7, %19 : tensor<i32>
      %21 = stablehlo.constant dense<16> : tensor<i32>
      %22 = stablehlo.multiply %20, %21 : tensor<i32>
      %23 = stablehlo.constant dense<8> : tensor<i32>
      %24 = stablehlo.multiply %15, %23 : tensor<i32>
      %25 = stablehlo.dynamic_slice %a.8, %22, %24, sizes = [16, 8] : (tensor<48x32xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
      %26 = stablehlo.multiply %15, %23 : tensor<i32>
      %27 = stablehlo.multiply %18, %21 : tensor<i32>
      %28 = stablehlo.dynamic_slice %b.9, %26, %27, sizes = [8, 16] : (tensor<32x48xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
      %29 = stablehlo.multiply %20, %21 : tensor<i32>
      %30 = stablehlo.multiply %18, %21 : tensor<i32>
      %31 = stablehlo.dynamic_slice %o.10, %29, %30, sizes = [16, 16] : (tensor<48x48xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
      // when k == 0
      %32 = stablehlo.constant dense<0> : tensor<i32>
      %33 = stablehlo.compare EQ, %15, %32, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %34:1 = "stablehlo.if"(%33) ({
        // fill o
        %35 = stablehlo.constant dense<0.0e+00> : tensor<f32>
        %36 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
        stablehlo.return %36 : tensor<16x16xf32>
      }, {
        stablehlo.return %31 : tensor<16x16xf32>
      }) : (tensor<i1>) -> (tensor<16x16xf32>)
      // accumulate o
      %37 = stablehlo.iota dim = 1 : tensor<16x8xi32>
      %38 = stablehlo.constant dense<29> : tensor<i32>
      %39 = stablehlo.subtract %38, %24 : tensor<i32>
      %40 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
      %41 = stablehlo.compare GE, %37, %40, SIGNED : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
      %42 = stablehlo.constant dense<0.0e+00> : tensor<16x8xf32>
      %43 = stablehlo.select %41, %42, %25 : tensor<16x8xi1>, tensor<16x8xf32>
      %44 = stablehlo.iota dim = 0 : tensor<8x16xi32>
      %45 = stablehlo.subtract %38, %24 : tensor<i32>
      %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
      %47 = stablehlo.compare GE, %44, %46, SIGNED : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
      %48 = stablehlo.constant dense<0.0e+00> : tensor<8x16xf32>
      %49 = stablehlo.select %47, %48, %28 : tensor<8x16xi1>, tensor<8x16xf32>
      %50 = stablehlo.dot_general %43, %49, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %51 = stablehlo.add %34#0, %50 : tensor<16x16xf32>
      %52 = stablehlo.reduce_precision %51, format = e8m7 : tensor<16x16xf32>
      %53 = stablehlo.dynamic_update_slice %o.10, %52, %29, %30 : (tensor<48x48xf32>, tensor<16x16xf32>, tensor<i32>, tensor<i32>) -> tensor<48x48xf32>
      %54 = stablehlo.constant dense<1> : tensor<i32>
      %55 = stablehlo.add %step.7, %54 : tensor<i32>
      stablehlo.return %55, %a.8, %b.9, %53 : tensor<i32>, tensor<48x32xf32>, tensor<32x48xf32>, tensor<48x48xf32>
    }
    %56 = stablehlo.slice %11#3 [0:37, 0:43] : (tensor<48x48xf32>) -> tensor<37x43xf32>
    return %56 : tensor<37x43xf32>
  }
}
