module @interpret {
  func.func public @main(%expert: tensor<3xi32>, %x: tensor<10x12xbf16>, %w: tensor<3x12x6xi4>) -> (tensor<10x6xf8E4M3FN>) {
    %0:1 = func.call @launch(%expert, %x, %w) : (tensor<3xi32>, tensor<10x12xbf16>, tensor<3x12x6xi4>) -> (tensor<10x6xf8E4M3FN>)
    return %0#0 : tensor<10x6xf8E4M3FN>
  }
  func.func private @launch(%expert: tensor<3xi32>, %x: tensor<10x12xbf16>, %w: tensor<3x12x6xi4>) -> (tensor<10x6xf8E4M3FN>) {
    %0 = stablehlo.convert %x : (tensor<10x12xbf16>) -> tensor<10x12xf32>
    %1 = stablehlo.convert %w : (tensor<3x12x6xi4>) -> tensor<3x12x6xi32>
    %2:1 = func.call @program0_slices(%expert, %0, %1) : (tensor<3xi32>, tensor<10x12xf32>, tensor<3x12x6xi32>) -> (tensor<10x6xf32>)
    %3 = stablehlo.convert %2#0 : (tensor<10x6xf32>) -> tensor<10x6xf8E4M3FN>
    return %3 : tensor<10x6xf8E4M3FN>
  }
  // slices: programs i = 0..2 x j = 0..1 x k = 0..1
  func.func private @program0_slices(%expert.0: tensor<3xi32>, %x.1: tensor<10x12xf32>, %w.2: tensor<3x12x6xi32>) -> (tensor<10x6xf32>) {
    %3 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.pad %x.1, %3, low = [0, 0], high = [2, 4], interior = [0, 0] : (tensor<10x12xf32>, tensor<f32>) -> tensor<12x16xf32>
    %5 = stablehlo.constant dense<-8> : tensor<i32>
    %6 = stablehlo.pad %w.2, %5, low = [0, 0, 0], high = [0, 4, 2], interior = [0, 0, 0] : (tensor<3x12x6xi32>, tensor<i32>) -> tensor<3x16x8xi32>
    %7 = stablehlo.constant dense<0x7FC00000> : tensor<12x8xf32>
    %8 = stablehlo.constant dense<0x7FC00000> : tensor<4x4xf32>
    %9 = stablehlo.constant dense<0> : tensor<i32>
    %16:6 = stablehlo.while(%step.10 = %9, %expert.11 = %expert.0, %x.12 = %4, %w.13 = %6, %o.14 = %7, %acc.15 = %8) : tensor<i32>, tensor<3xi32>, tensor<12x16xf32>, tensor<3x16x8xi32>, tensor<12x8xf32>, tensor<4x4xf32>
     cond {
      %17 = stablehlo.constant dense<12> : tensor<i32>
      %18 = stablehlo.compare LT, %step.10, %17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %19 = stablehlo.constant dense<2> : tensor<i32>
      %20 = stablehlo.remainder %step.10, %19 : tensor<i32>
      %21 = stablehlo.divide %step.10, %19 : tensor<i32>
      %22 = stablehlo.remainder %21, %19 : tensor<i32>
      %23 = stablehlo.constant dense<4> : tensor<i32>
      %24 = stablehlo.divide %step.10, %23 : tensor<i32>
      %25 = stablehlo.multiply %24, %23 : tensor<i32>
      %26 = stablehlo.constant dense<8> : tensor<i32>
      %27 = stablehlo.multiply %20, %26 : tensor<i32>
      %28 = stablehlo.dynamic_slice %x.12, %25, %27, sizes = [4, 8] : (tensor<12x16xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %29 = stablehlo.dynamic_slice %expert.11, %24, sizes = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
      %30 = stablehlo.reshape %29 : (tensor<1xi32>) -> tensor<i32>
      %31 = stablehlo.multiply %20, %26 : tensor<i32>
      %32 = stablehlo.multiply %22, %23 : tensor<i32>
      %33 = stablehlo.dynamic_slice %w.13, %30, %31, %32, sizes = [1, 8, 4] : (tensor<3x16x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xi32>
      %34 = stablehlo.reshape %33 : (tensor<1x8x4xi32>) -> tensor<8x4xi32>
      %35 = stablehlo.multiply %24, %23 : tensor<i32>
      %36 = stablehlo.multiply %22, %23 : tensor<i32>
      %37 = stablehlo.dynamic_slice %o.14, %35, %36, sizes = [4, 4] : (tensor<12x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
      // when k == 0
      %38 = stablehlo.constant dense<0> : tensor<i32>
      %39 = stablehlo.compare EQ, %20, %38, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %40:1 = "stablehlo.if"(%39) ({
        // fill acc
        %41 = stablehlo.constant dense<0.0e+00> : tensor<f32>
        %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
        stablehlo.return %42 : tensor<4x4xf32>
      }, {
        stablehlo.return %acc.15 : tensor<4x4xf32>
      }) : (tensor<i1>) -> (tensor<4x4xf32>)
      // for s = 0..1
      %59:16 = stablehlo.while(%s.43 = %38, %i.44 = %24, %j.45 = %22, %k.46 = %20, %expert.47 = %expert.11, %x.48 = %28, %x_at.49 = %25, %x_at.50 = %27, %w.51 = %34, %w_at.52 = %30, %w_at.53 = %31, %w_at.54 = %32, %o.55 = %37, %o_at.56 = %35, %o_at.57 = %36, %acc.58 = %40#0) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>, tensor<8x4xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>
       cond {
        %60 = stablehlo.constant dense<2> : tensor<i32>
        %61 = stablehlo.compare LT, %s.43, %60, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %61 : tensor<i1>
      } do {
        // accumulate acc
        %62 = stablehlo.constant dense<0> : tensor<i32>
        %63 = stablehlo.constant dense<4> : tensor<i32>
        %64 = stablehlo.multiply %s.43, %63 : tensor<i32>
        %65 = stablehlo.dynamic_slice %x.48, %62, %64, sizes = [4, 4] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
        %66 = stablehlo.multiply %s.43, %63 : tensor<i32>
        %67 = stablehlo.dynamic_slice %w.51, %66, %62, sizes = [4, 4] : (tensor<8x4xi32>, tensor<i32>, tensor<i32>) -> tensor<4x4xi32>
        %68 = stablehlo.convert %67 : (tensor<4x4xi32>) -> tensor<4x4xf32>
        %69 = stablehlo.reduce_precision %68, format = e8m7 : tensor<4x4xf32>
        %70 = stablehlo.iota dim = 1 : tensor<4x4xi32>
        %71 = stablehlo.constant dense<12> : tensor<i32>
        %72 = stablehlo.subtract %71, %x_at.50 : tensor<i32>
        %73 = stablehlo.multiply %s.43, %63 : tensor<i32>
        %74 = stablehlo.subtract %72, %73 : tensor<i32>
        %75 = stablehlo.broadcast_in_dim %74, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
        %76 = stablehlo.compare GE, %70, %75, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
        %77 = stablehlo.constant dense<0.0e+00> : tensor<4x4xf32>
        %78 = stablehlo.select %76, %77, %65 : tensor<4x4xi1>, tensor<4x4xf32>
        %79 = stablehlo.iota dim = 0 : tensor<4x4xi32>
        %80 = stablehlo.subtract %71, %x_at.50 : tensor<i32>
        %81 = stablehlo.multiply %s.43, %63 : tensor<i32>
        %82 = stablehlo.subtract %80, %81 : tensor<i32>
        %83 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
        %84 = stablehlo.compare GE, %79, %83, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
        %85 = stablehlo.select %84, %77, %69 : tensor<4x4xi1>, tensor<4x4xf32>
        %86 = stablehlo.dot_general %78, %85, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        %87 = stablehlo.add %acc.58, %86 : tensor<4x4xf32>
        %88 = stablehlo.constant dense<1> : tensor<i32>
        %89 = stablehlo.add %s.43, %88 : tensor<i32>
        stablehlo.return %89, %i.44, %j.45, %k.46, %expert.47, %x.48, %x_at.49, %x_at.50, %w.51, %w_at.52, %w_at.53, %w_at.54, %o.55, %o_at.56, %o_at.57, %87 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>, tensor<8x4xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>
      }
      // when k == 1 and not (expert[i] // 4 > 0)
      %90 = stablehlo.constant dense<true> : tensor<i1>
      %91 = stablehlo.constant dense<1> : tensor<i32>
      %92 = stablehlo.compare EQ, %20, %91, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %93 = stablehlo.dynamic_slice %expert.11, %24, sizes = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
      %94 = stablehlo.reshape %93 : (tensor<1xi32>) -> tensor<i32>
      %95 = stablehlo.remainder %94, %23 : tensor<i32>
      %96 = stablehlo.add %95, %23 : tensor<i32>
      %97 = stablehlo.remainder %96, %23 : tensor<i32>
      %98 = stablehlo.subtract %94, %97 : tensor<i32>
      %99 = stablehlo.divide %98, %23 : tensor<i32>
      %100 = stablehlo.compare GT, %99, %38, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %101 = stablehlo.not %100 : tensor<i1>
      %102 = stablehlo.and %92, %101 : tensor<i1>
      %103:1 = "stablehlo.if"(%102) ({
        // store o
        %104 = stablehlo.iota dim = 1 : tensor<1x4xi32>
        %105 = stablehlo.constant dense<6> : tensor<i32>
        %106 = stablehlo.subtract %105, %36 : tensor<i32>
        %107 = stablehlo.broadcast_in_dim %106, dims = [] : (tensor<i32>) -> tensor<1x4xi32>
        %108 = stablehlo.compare LT, %104, %107, SIGNED : (tensor<1x4xi32>, tensor<1x4xi32>) -> tensor<1x4xi1>
        %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1] : (tensor<1x4xi1>) -> tensor<4x4xi1>
        %110 = stablehlo.constant dense<-1.0e+00> : tensor<f32>
        %111 = stablehlo.broadcast_in_dim %110, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
        %112 = stablehlo.select %109, %59#15, %111 : tensor<4x4xi1>, tensor<4x4xf32>
        %113 = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %114 = stablehlo.reduce(%112 init: %113) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
        %115 = stablehlo.reshape %114 : (tensor<4xf32>) -> tensor<4x1xf32>
        %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
        %117 = stablehlo.subtract %59#15, %116 : tensor<4x4xf32>
        %118 = stablehlo.constant dense<-7.0710677e-01> : tensor<4x4xf32>
        %119 = stablehlo.multiply %117, %118 : tensor<4x4xf32>
        %120 = chlo.erfc %119 : tensor<4x4xf32> -> tensor<4x4xf32>
        %121 = stablehlo.constant dense<5.0e-01> : tensor<4x4xf32>
        %122 = stablehlo.multiply %120, %121 : tensor<4x4xf32>
        %123 = stablehlo.multiply %117, %122 : tensor<4x4xf32>
        %124 = stablehlo.bitcast_convert %123 : (tensor<4x4xf32>) -> tensor<4x4xi32>
        %125 = stablehlo.constant dense<23> : tensor<4x4xi32>
        %126 = stablehlo.shift_right_logical %124, %125 : tensor<4x4xi32>
        %127 = stablehlo.constant dense<255> : tensor<4x4xi32>
        %128 = stablehlo.and %126, %127 : tensor<4x4xi32>
        %129 = stablehlo.constant dense<121> : tensor<4x4xi32>
        %130 = stablehlo.maximum %128, %129 : tensor<4x4xi32>
        %131 = stablehlo.constant dense<254> : tensor<4x4xi32>
        %132 = stablehlo.minimum %130, %131 : tensor<4x4xi32>
        %133 = stablehlo.constant dense<3> : tensor<4x4xi32>
        %134 = stablehlo.subtract %132, %133 : tensor<4x4xi32>
        %135 = stablehlo.shift_left %134, %125 : tensor<4x4xi32>
        %136 = stablehlo.bitcast_convert %135 : (tensor<4x4xi32>) -> tensor<4x4xf32>
        %137 = stablehlo.divide %123, %136 : tensor<4x4xf32>
        %138 = stablehlo.round_nearest_even %137 : tensor<4x4xf32>
        %139 = stablehlo.multiply %138, %136 : tensor<4x4xf32>
        %140 = stablehlo.abs %139 : tensor<4x4xf32>
        %141 = stablehlo.constant dense<4.48e+02> : tensor<4x4xf32>
        %142 = stablehlo.compare GT, %140, %141, FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
        %143 = stablehlo.constant dense<-2147483648> : tensor<4x4xi32>
        %144 = stablehlo.and %124, %143 : tensor<4x4xi32>
        %145 = stablehlo.constant dense<2143289344> : tensor<4x4xi32>
        %146 = stablehlo.or %144, %145 : tensor<4x4xi32>
        %147 = stablehlo.bitcast_convert %146 : (tensor<4x4xi32>) -> tensor<4x4xf32>
        %148 = stablehlo.select %142, %147, %139 : tensor<4x4xi1>, tensor<4x4xf32>
        stablehlo.return %148 : tensor<4x4xf32>
      }, {
        stablehlo.return %37 : tensor<4x4xf32>
      }) : (tensor<i1>) -> (tensor<4x4xf32>)
      %149 = stablehlo.dynamic_update_slice %o.14, %103#0, %35, %36 : (tensor<12x8xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<12x8xf32>
      %150 = stablehlo.add %step.10, %91 : tensor<i32>
      stablehlo.return %150, %expert.11, %x.12, %w.13, %149, %59#15 : tensor<i32>, tensor<3xi32>, tensor<12x16xf32>, tensor<3x16x8xi32>, tensor<12x8xf32>, tensor<4x4xf32>
    }
    %151 = stablehlo.slice %16#4 [0:10, 0:6] : (tensor<12x8xf32>) -> tensor<10x6xf32>
    return %151 : tensor<10x6xf32>
  }
}
