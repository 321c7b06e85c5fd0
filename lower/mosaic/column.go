package mosaic

import (
	"slices"

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

// column is the type of a column of rows numbers, each in every lane.
func column(elem string, rows int) shaped { return shaped{elem, []int{rows, tileColumns}, true} }

// block is the type of the value of r's block.
func (k *kernel) block(r *tile.Ref) shaped {
	arg := k.refs[r]
	if k.inLanes(r) {
		return column(arg.elem, arg.dims[0])
	}
	return shaped{elem: arg.elem, dims: physical(r.Shape())}
}

// alone is v with each number in one lane, if it is a column in every lane.
func (k *kernel) alone(v value) value {
	if !v.lanes {
		return v
	}
	return k.fromLanes(v, []int{v.dims[0], 1})
}

// inLane is v with each number in every lane; v is such a column or is repeated to one.
func (k *kernel) inLane(v value, to shaped) value {
	if !v.lanes {
		v = k.vector(v, shaped{elem: to.elem, dims: to.dims})
		v.lanes = true
	}
	return v
}

// fromLanes is column v repeated to dims.
func (k *kernel) fromLanes(v value, dims []int) value {
	to := shaped{elem: v.elem, dims: dims}
	key := "lanes " + v.name + to.String()
	n := dims[len(dims)-1]
	switch {
	case len(dims) != 2 || n > tileColumns && n%tileColumns != 0:
		return k.vector(k.fromLanes(v, []int{v.dims[0], 1}), to)
	case n == tileColumns:
		v.lanes = false
		return v
	case v.elem == "i1":
		return k.toBool(k.fromLanes(k.op(v.of("i32"), "arith.extui", "", v), dims))
	case n < tileColumns:
		return k.once(key, func() value {
			return k.op(to, "vector.extract_strided_slice", "offsets = [0, 0], sizes = ["+commas(dims)+"], strides = [1, 1]", v)
		})
	}
	return k.once(key, func() value {
		return k.op(to, "tpu.concatenate", "dimension = 1 : i32", slices.Repeat([]value{v}, n/tileColumns)...)
	})
}
