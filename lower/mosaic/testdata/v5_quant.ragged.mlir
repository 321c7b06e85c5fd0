"builtin.module"() ({
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %k: i32, %a: memref<128x128xbf16, #tpu.memory_space<vmem>>, %b: memref<128x128xbf16, #tpu.memory_space<vmem>>, %o: memref<128x128xbf16, #tpu.memory_space<vmem>>, %acc: memref<128x128xf32, #tpu.memory_space<vmem>>):
    // accumulate acc
    %0 = "stable_mosaic.arith.constant"() {value = 128 : i32} : () -> i32
    %1 = "stable_mosaic.arith.muli"(%k, %0) : (i32, i32) -> i32
    %2 = "stable_mosaic.arith.constant"() {value = 300 : i32} : () -> i32
    %3 = "stable_mosaic.arith.subi"(%2, %1) : (i32, i32) -> i32
    %4 = "stable_mosaic.arith.cmpi"(%3, %0) {predicate = 5 : i64} : (i32, i32) -> i1
    "stable_mosaic.scf.if"(%4) ({
      %5 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
      %6 = "stable_mosaic.arith.cmpi"(%k, %5) {predicate = 0 : i64} : (i32, i32) -> i1
      %7 = "stable_mosaic.arith.constant"() {value = dense<0.0e+00> : vector<128x128xf32>} : () -> vector<128x128xf32>
      %8 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      %9 = "stable_mosaic.vector.load"(%acc, %8, %8) : (memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xf32>
      %10 = "stable_mosaic.arith.select"(%6, %7, %9) : (i1, vector<128x128xf32>, vector<128x128xf32>) -> vector<128x128xf32>
      %11 = "stable_mosaic.vector.load"(%a, %8, %8) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %12 = "stable_mosaic.vector.load"(%b, %8, %8) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %13 = "stable_mosaic.tpu.matmul"(%11, %12, %10) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<128x128xbf16>, vector<128x128xbf16>, vector<128x128xf32>) -> vector<128x128xf32>
      "stable_mosaic.tpu.vector_store"(%13, %acc, %8, %8) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xf32>, memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      %14 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
      %15 = "stable_mosaic.arith.cmpi"(%k, %14) {predicate = 0 : i64} : (i32, i32) -> i1
      %16 = "stable_mosaic.arith.constant"() {value = dense<0.0e+00> : vector<128x128xf32>} : () -> vector<128x128xf32>
      %17 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      %18 = "stable_mosaic.vector.load"(%acc, %17, %17) : (memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xf32>
      %19 = "stable_mosaic.arith.select"(%15, %16, %18) : (i1, vector<128x128xf32>, vector<128x128xf32>) -> vector<128x128xf32>
      %20 = "stable_mosaic.vector.load"(%a, %17, %17) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %21 = "stable_mosaic.vector.load"(%b, %17, %17) : (memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xbf16>
      %22 = "stable_mosaic.tpu.iota"() {dimensions = array<i32: 1>} : () -> vector<128x128xi32>
      %23 = "stable_mosaic.vector.broadcast"(%3) : (i32) -> vector<128x128xi32>
      %24 = "stable_mosaic.arith.cmpi"(%22, %23) {predicate = 2 : i64} : (vector<128x128xi32>, vector<128x128xi32>) -> vector<128x128xi1>
      %25 = "stable_mosaic.arith.constant"() {value = dense<0.0e+00> : vector<128x128xbf16>} : () -> vector<128x128xbf16>
      %26 = "stable_mosaic.arith.select"(%24, %20, %25) : (vector<128x128xi1>, vector<128x128xbf16>, vector<128x128xbf16>) -> vector<128x128xbf16>
      %27 = "stable_mosaic.tpu.iota"() {dimensions = array<i32: 0>} : () -> vector<128x128xi32>
      %28 = "stable_mosaic.arith.cmpi"(%27, %23) {predicate = 2 : i64} : (vector<128x128xi32>, vector<128x128xi32>) -> vector<128x128xi1>
      %29 = "stable_mosaic.arith.select"(%28, %21, %25) : (vector<128x128xi1>, vector<128x128xbf16>, vector<128x128xbf16>) -> vector<128x128xbf16>
      %30 = "stable_mosaic.tpu.matmul"(%26, %29, %19) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<128x128xbf16>, vector<128x128xbf16>, vector<128x128xf32>) -> vector<128x128xf32>
      "stable_mosaic.tpu.vector_store"(%30, %acc, %17, %17) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xf32>, memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    %31 = "stable_mosaic.arith.constant"() {value = 2 : i32} : () -> i32
    %32 = "stable_mosaic.arith.cmpi"(%k, %31) {predicate = 0 : i64} : (i32, i32) -> i1
    // when k == 2
    "stable_mosaic.scf.if"(%32) ({
      // store o
      %33 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
      %34 = "stable_mosaic.vector.load"(%acc, %33, %33) : (memref<128x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<128x128xf32>
      %35 = "stable_mosaic.arith.truncf"(%34) : (vector<128x128xf32>) -> vector<128x128xbf16>
      "stable_mosaic.tpu.vector_store"(%35, %o, %33, %33) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<128x128xbf16>, memref<128x128xbf16, #tpu.memory_space<vmem>>, index, index) -> ()
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
