"builtin.module"() ({
  "stable_mosaic.func.func"() ({
  ^bb0(%a: memref<512x384xi8, #tpu.memory_space<vmem>>, %b: memref<384x768xi8, #tpu.memory_space<vmem>>, %o: memref<512x768xi32, #tpu.memory_space<vmem>>):
    // store o
    %0 = "stable_mosaic.arith.constant"() {value = dense<0> : vector<512x768xi32>} : () -> vector<512x768xi32>
    %1 = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
    %2 = "stable_mosaic.vector.load"(%a, %1, %1) : (memref<512x384xi8, #tpu.memory_space<vmem>>, index, index) -> vector<512x384xi8>
    %3 = "stable_mosaic.vector.load"(%b, %1, %1) : (memref<384x768xi8, #tpu.memory_space<vmem>>, index, index) -> vector<384x768xi8>
    %4 = "stable_mosaic.tpu.matmul"(%2, %3, %0) {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false} : (vector<512x384xi8>, vector<384x768xi8>, vector<512x768xi32>) -> vector<512x768xi32>
    "stable_mosaic.tpu.vector_store"(%4, %o, %1, %1) {operandSegmentSizes = array<i32: 1, 1, 2, 0>, strides = array<i32>} : (vector<512x768xi32>, memref<512x768xi32, #tpu.memory_space<vmem>>, index, index) -> ()
    "stable_mosaic.func.return"() : () -> ()
  }) {dimension_semantics = [], function_type = (memref<512x384xi8, #tpu.memory_space<vmem>>, memref<384x768xi8, #tpu.memory_space<vmem>>, memref<512x768xi32, #tpu.memory_space<vmem>>) -> (), scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, sym_name = "v1_naive", tpu.core_type = #tpu.core_type<tc>} : () -> ()
}) {stable_mosaic.version = 11 : i64} : () -> ()
