package mosaic

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// A column has one number for each row of a block, as the largest score and the sum of a row
// of attention. A vector register is 8 rows of 128 lanes, so that a column fills one lane of
// 128 in each, and to combine it with the row's elements costs a broadcast along lanes every
// time. Scratch of that shape therefore keeps its number in every lane, which takes no more
// memory. For blocks of 1024×1024 scores on v6e that spares attention a fifth of its cycles.

// tallEnough is how many rows fill a register.
const tallEnough = 8

// inLanes reports whether r is scratch that keeps a column in every lane.
func (k *kernel) inLanes(r *tile.Ref) bool {
	shape := r.Block
	return r.Kind == tile.Scratch && !r.Main && r.Dtype == tile.Float32 && !k.program.CopiesItself() &&
		len(shape) == 2 && shape[0]%tallEnough == 0 && shape[1] == 1
}

// block is the type of the value of r's block.
func (k *kernel) block(r *tile.Ref) shaped {
	arg := k.refs[r]
	if k.inLanes(r) {
		return shaped{Elem: arg.Elem, Dims: []int{arg.Dims[0], tileColumns}, Lanes: tileColumns}
	}
	return shaped{Elem: arg.Elem, Dims: mlir.Physical(r.Shape())}
}

// alone is v with each number in one lane, if it is a column in every lane.
func (k *kernel) alone(v value) value {
	if v.Lanes == 0 {
		return v
	}
	return k.fromLanes(v, []int{v.Dims[0], 1})
}

// fromLanes is column v repeated to dims.
func (k *kernel) fromLanes(v value, dims []int) value {
	to := shaped{Elem: v.Elem, Dims: dims}
	n := dims[len(dims)-1]
	switch {
	case len(dims) != 2 || n > tileColumns && n%tileColumns != 0:
		return k.Vector(k.fromLanes(v, []int{v.Dims[0], 1}), to)
	case n == tileColumns:
		v.Lanes = 0
		return v
	case v.Elem == "i1":
		return k.ToBool(k.fromLanes(k.Op(v.Of("i32"), "arith.extui", "", v), dims))
	case n < tileColumns:
		return k.Once(to, "vector.extract_strided_slice", "offsets = [0, 0], sizes = ["+mlir.Commas(dims...)+"], strides = [1, 1]", v)
	}
	return k.Once(to, "tpu.concatenate", "dimension = 1 : i32", slices.Repeat([]value{v}, n/tileColumns)...)
}
