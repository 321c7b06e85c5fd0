module @m {
  func.func public @main(%a: tensor<i32>, %b: tensor<256x256xf32>) -> (tensor<i32>, tensor<256x256xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %w:2 = stablehlo.while(%i = %a, %s = %c) : tensor<i32>, tensor<i32>
     cond {
      %p = stablehlo.compare GT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %h = stablehlo.shift_right_logical %i, %c : tensor<i32>
      %t = stablehlo.add %s, %h : tensor<i32>
      stablehlo.return %h, %t : tensor<i32>, tensor<i32>
    }
    %d = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %w#1, %d : tensor<i32>, tensor<256x256xf32>
  }
}
