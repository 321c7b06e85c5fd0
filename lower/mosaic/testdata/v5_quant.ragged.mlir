"builtin.module"() ({
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32, %a: memref<128x128xbf16, #tpu.memory_space<vmem>>, %b: memref<128x128xbf16, #tpu.memory_space<vmem>>, %o: memref<128x128xbf16, #tpu.memory_space<vmem>>, %acc: memref<128x128xf32, #tpu.memory_space<vmem>>):
    %0 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    %1 = "stable_mosaic.arith.cmpi"(%k, %0) {predicate = 0 : i64} : (i32, i32) -> i1
    // when k == 0
    "stable_mosaic.scf.if"(%1) ({
      // fill acc
      %2 = "stable_mosaic.arith.constant"() {value = dense<0.0e+00> : vector<128x128xf32>} : () -> vector<128x128xf32>
      %3 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      "stable_mosaic.tpu.vector_store"(%2, %acc, %3, %3) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xf32>, memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    // accumulate acc
    %4 = "stable_mosaic.arith.constant"() {value = 128 : i32} : () -> i32
    %5 = "stable_mosaic.arith.muli"(%k, %4) : (i32, i32) -> i32
    %6 = "stable_mosaic.arith.constant"() {value = 300 : i32} : () -> i32
    %7 = "stable_mosaic.arith.subi"(%6, %5) : (i32, i32) -> i32
    %8 = "stable_mosaic.arith.cmpi"(%7, %4) {predicate = 5 : i64} : (i32, i32) -> i1
    "stable_mosaic.scf.if"(%8) ({
      %9 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      %10 = "stable_mosaic.vector.load"(%acc, %9, %9) : (memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xf32>
      %11 = "stable_mosaic.vector.load"(%a, %9, %9) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %12 = "stable_mosaic.vector.load"(%b, %9, %9) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %13 = "stable_mosaic.tpu.matmul"(%11, %12, %10) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<128x128xbf16>, vector<128x128xbf16>, vector<128x128xf32>) -> vector<128x128xf32>
      "stable_mosaic.tpu.vector_store"(%13, %acc, %9, %9) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xf32>, memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      %14 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      %15 = "stable_mosaic.vector.load"(%acc, %14, %14) : (memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xf32>
      %16 = "stable_mosaic.vector.load"(%a, %14, %14) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %17 = "stable_mosaic.vector.load"(%b, %14, %14) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %18 = "stable_mosaic.tpu.iota"() {dimensions = array<i32: 1>} : () -> vector<128x128xi32>
      %19 = "stable_mosaic.vector.broadcast"(%7) : (i32) -> vector<128x128xi32>
      %20 = "stable_mosaic.arith.cmpi"(%18, %19) {predicate = 2 : i64} : (vector<128x128xi32>, vector<128x128xi32>) -> vector<128x128xi1>
      %21 = "stable_mosaic.arith.constant"() {value = dense<0.0e+00> : vector<128x128xbf16>} : () -> vector<128x128xbf16>
      %22 = "stable_mosaic.arith.select"(%20, %16, %21) : (vector<128x128xi1>, vector<128x128xbf16>, vector<128x128xbf16>) -> vector<128x128xbf16>
      %23 = "stable_mosaic.tpu.iota"() {dimensions = array<i32: 0>} : () -> vector<128x128xi32>
      %24 = "stable_mosaic.arith.cmpi"(%23, %19) {predicate = 2 : i64} : (vector<128x128xi32>, vector<128x128xi32>) -> vector<128x128xi1>
      %25 = "stable_mosaic.arith.select"(%24, %17, %21) : (vector<128x128xi1>, vector<128x128xbf16>, vector<128x128xbf16>) -> vector<128x128xbf16>
      %26 = "stable_mosaic.tpu.matmul"(%22, %25, %15) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<128x128xbf16>, vector<128x128xbf16>, vector<128x128xf32>) -> vector<128x128xf32>
      "stable_mosaic.tpu.vector_store"(%26, %acc, %14, %14) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xf32>, memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    %27 = "stable_mosaic.arith.constant"() {value = 2 : i32} : () -> i32
    %28 = "stable_mosaic.arith.cmpi"(%k, %27) {predicate = 0 : i64} : (i32, i32) -> i1
    // when k == 2
    "stable_mosaic.scf.if"(%28) ({
      // store o
      %29 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      %30 = "stable_mosaic.vector.load"(%acc, %29, %29) : (memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xf32>
      %31 = "stable_mosaic.arith.truncf"(%30) : (vector<128x128xf32>) -> vector<128x128xbf16>
      "stable_mosaic.tpu.vector_store"(%31, %o, %29, %29) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xbf16>, memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    "stable_mosaic.func.return"() : () -> ()
  }) {dimension_semantics = [#tpu.dimension_semantics<parallel>, #tpu.dimension_semantics<parallel>, #tpu.dimension_semantics<arbitrary>], function_type = (i32, i32, i32, memref<128x128xbf16, #tpu.memory_space<vmem>>, memref<128x128xbf16, #tpu.memory_space<vmem>>, memref<128x128xbf16, #tpu.memory_space<vmem>>, memref<128x128xf32, #tpu.memory_space<vmem>>) -> (), iteration_bounds = array<i64: 4, 7, 3>, scalar_prefetch = 0 : i64, scratch_operands = 1 : i64, sym_name = "v5_quant", tpu.core_type = #tpu.core_type<tc>, window_params = [{transform_indices = @"a.block", window_bounds = array<i64: 128, 128>}, {transform_indices = @"b.block", window_bounds = array<i64: 128, 128>}, {transform_indices = @"o.block", window_bounds = array<i64: 128, 128>}]} : () -> ()
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
    "stable_mosaic.func.return"(%i, %j) : (i32, i32) -> ()
  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = "o.block"} : () -> ()
}) {stable_mosaic.version = 11 : i64} : () -> ()
