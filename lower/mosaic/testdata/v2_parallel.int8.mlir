"builtin.module"() ({
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32, %a: memref<256x384xi8, #tpu.memory_space<vmem>>, %b: memref<384x384xi8, #tpu.memory_space<vmem>>, %o: memref<256x384xi32, #tpu.memory_space<vmem>>):
    // store o
    %0 = "stable_mosaic.arith.constant"() {value = dense<0> : vector<256x384xi32>} : () -> vector<256x384xi32>
    %1 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
    %2 = "stable_mosaic.vector.load"(%a, %1, %1) : (memref<256x384xi8, #tpu.memory_space<vmem>>, index, index) -> vector<256x384xi8>
    %3 = "stable_mosaic.vector.load"(%b, %1, %1) : (memref<384x384xi8, #tpu.memory_space<vmem>>, index, index) -> vector<384x384xi8>
    %4 = "stable_mosaic.tpu.matmul"(%2, %3, %0) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<256x384xi8>, vector<384x384xi8>, vector<256x384xi32>) -> vector<256x384xi32>
    "stable_mosaic.tpu.vector_store"(%4, %o, %1, %1) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<256x384xi32>, memref<256x384xi32, #tpu.memory_space<vmem>>, index, index) -> ()
    "stable_mosaic.func.return"() : () -> ()
  }) {dimension_semantics = [#tpu.dimension_semantics<parallel>, #tpu.dimension_semantics<parallel>], function_type = (i32, i32, memref<256x384xi8, #tpu.memory_space<vmem>>, memref<384x384xi8, #tpu.memory_space<vmem>>, memref<256x384xi32, #tpu.memory_space<vmem>>) -> (), iteration_bounds = array<i64: 2, 2>, scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, sym_name = "v2_parallel", tpu.core_type = #tpu.core_type<tc>, window_params = [{transform_indices = @"a.block", window_bounds = array<i64: 256, 384>}, {transform_indices = @"b.block", window_bounds = array<i64: 384, 384>}, {transform_indices = @"o.block", window_bounds = array<i64: 256, 384>}]} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32):
    %0 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    "stable_mosaic.func.return"(%i, %0) : (i32, i32) -> ()
  }) {function_type = (i32, i32) -> (i32, i32), sym_name = "a.block"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32):
    %0 = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    "stable_mosaic.func.return"(%0, %j) : (i32, i32) -> ()
  }) {function_type = (i32, i32) -> (i32, i32), sym_name = "b.block"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %j: i32):
    "stable_mosaic.func.return"(%i, %j) : (i32, i32) -> ()
  }) {function_type = (i32, i32) -> (i32, i32), sym_name = "o.block"} : () -> ()
}) {stable_mosaic.version = 11 : i64} : () -> ()
