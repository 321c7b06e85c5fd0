"builtin.module"() ({
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32, %a: memref<128x128xi8, #tpu.memory_space<vmem>>, %b: memref<128x128xi8, #tpu.memory_space<vmem>>, %sa: memref<1x1xf32, #tpu.memory_space<vmem>>, %sb: memref<1x1xf32, #tpu.memory_space<vmem>>, %o: memref<128x128xbf16, #tpu.memory_space<vmem>>, %acc: memref<128x128xi32, #tpu.memory_space<vmem>>):
    // accumulate acc
    %0 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    %1 = "stable_mosaic.arith.cmpi"(%k, %0) {predicate = 0 : i64} : (i32, i32) -> i1
    %2 = "stable_mosaic.arith.constant"() {value = dense<0> : vector<128x128xi32>} : () -> vector<128x128xi32>
    %3 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
    %4 = "stable_mosaic.vector.load"(%acc, %3, %3) : (memref<128x128xi32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xi32>
    %5 = "stable_mosaic.arith.select"(%1, %2, %4) : (i1, vector<128x128xi32>, vector<128x128xi32>) -> vector<128x128xi32>
    %6 = "stable_mosaic.vector.load"(%a, %3, %3) : (memref<128x128xi8, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xi8>
    %7 = "stable_mosaic.vector.load"(%b, %3, %3) : (memref<128x128xi8, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xi8>
    %8 = "stable_mosaic.tpu.matmul"(%6, %7, %2) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<128x128xi8>, vector<128x128xi8>, vector<128x128xi32>) -> vector<128x128xi32>
    %9 = "stable_mosaic.arith.addi"(%5, %8) : (vector<128x128xi32>, vector<128x128xi32>) -> vector<128x128xi32>
    "stable_mosaic.tpu.vector_store"(%9, %acc, %3, %3) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xi32>, memref<128x128xi32, #tpu.memory_space<vmem>>, index, index) -> ()
    %10 = "stable_mosaic.arith.constant"() {value = 2 : i32} : () -> i32
    %11 = "stable_mosaic.arith.cmpi"(%k, %10) {predicate = 0 : i64} : (i32, i32) -> i1
    // when k == 2
    "stable_mosaic.scf.if"(%11) ({
      // store o
      %12 = "stable_mosaic.vector.load"(%acc, %3, %3) : (memref<128x128xi32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xi32>
      %13 = "stable_mosaic.arith.sitofp"(%12) : (vector<128x128xi32>) -> vector<128x128xf32>
      %14 = "stable_mosaic.vector.load"(%sa, %3, %3) : (memref<1x1xf32, #tpu.memory_space<vmem>>, index, index) -> vector<1x1xf32>
      %15 = "stable_mosaic.arith.constant"() {value = dense<5.421011e-20> : vector<1x1xf32>} : () -> vector<1x1xf32>
      %16 = "stable_mosaic.arith.maximumf"(%14, %15) : (vector<1x1xf32>, vector<1x1xf32>) -> vector<1x1xf32>
      %17 = "stable_mosaic.arith.constant"() {value = dense<1.8446744e+19> : vector<1x1xf32>} : () -> vector<1x1xf32>
      %18 = "stable_mosaic.arith.minimumf"(%16, %17) : (vector<1x1xf32>, vector<1x1xf32>) -> vector<1x1xf32>
      %19 = "stable_mosaic.vector.broadcast"(%18) : (vector<1x1xf32>) -> vector<128x128xf32>
      %20 = "stable_mosaic.arith.mulf"(%13, %19) : (vector<128x128xf32>, vector<128x128xf32>) -> vector<128x128xf32>
      %21 = "stable_mosaic.vector.load"(%sb, %3, %3) : (memref<1x1xf32, #tpu.memory_space<vmem>>, index, index) -> vector<1x1xf32>
      %22 = "stable_mosaic.vector.broadcast"(%21) : (vector<1x1xf32>) -> vector<128x128xf32>
      %23 = "stable_mosaic.arith.mulf"(%20, %22) : (vector<128x128xf32>, vector<128x128xf32>) -> vector<128x128xf32>
      %24 = "stable_mosaic.arith.divf"(%14, %18) : (vector<1x1xf32>, vector<1x1xf32>) -> vector<1x1xf32>
      %25 = "stable_mosaic.vector.broadcast"(%24) : (vector<1x1xf32>) -> vector<128x128xf32>
      %26 = "stable_mosaic.arith.mulf"(%23, %25) : (vector<128x128xf32>, vector<128x128xf32>) -> vector<128x128xf32>
      %27 = "stable_mosaic.arith.truncf"(%26) : (vector<128x128xf32>) -> vector<128x128xbf16>
      "stable_mosaic.tpu.vector_store"(%27, %o, %3, %3) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xbf16>, memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    "stable_mosaic.func.return"() : () -> ()
  }) {dimension_semantics = [#tpu.dimension_semantics<parallel>, #tpu.dimension_semantics<parallel>, #tpu.dimension_semantics<arbitrary>], function_type = (i32, i32, i32, memref<128x128xi8, #tpu.memory_space<vmem>>, memref<128x128xi8, #tpu.memory_space<vmem>>, memref<1x1xf32, #tpu.memory_space<vmem>>, memref<1x1xf32, #tpu.memory_space<vmem>>, memref<128x128xbf16, #tpu.memory_space<vmem>>, memref<128x128xi32, #tpu.memory_space<vmem>>) -> (), iteration_bounds = array<i64: 4, 6, 3>, scalar_prefetch = 0 : i64, scratch_operands = 1 : i64, sym_name = "v5_quant", tpu.core_type = #tpu.core_type<tc>, window_params = [{transform_indices = @"a.block", window_bounds = array<i64: 128, 128>}, {transform_indices = @"b.block", window_bounds = array<i64: 128, 128>}, {transform_indices = @"sa.block", window_bounds = array<i64: 1, 1>}, {transform_indices = @"sb.block", window_bounds = array<i64: 1, 1>}, {transform_indices = @"o.block", window_bounds = array<i64: 128, 128>}]} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32):
    "stable_mosaic.func.return"(%i, %k) : (i32, i32) -> ()
  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = "a.block"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32):
    "stable_mosaic.func.return"(%k, %j) : (i32, i32) -> ()
  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = "b.block"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32):
    %0 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    "stable_mosaic.func.return"(%0, %0) : (i32, i32) -> ()
  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = "sa.block"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32):
    %0 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    "stable_mosaic.func.return"(%0, %0) : (i32, i32) -> ()
  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = "sb.block"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32):
    "stable_mosaic.func.return"(%i, %j) : (i32, i32) -> ()
  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = "o.block"} : () -> ()
}) {stable_mosaic.version = 11 : i64} : () -> ()
