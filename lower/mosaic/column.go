package mosaic

import (
	"slices"

	"matladder/tile"
)

// A column of numbers, one for each row of a block, takes whole registers in memory all the
// same: of each it fills one lane of 128. Scratch of that shape has its number in every lane
// instead, so that to repeat it beside the elements of a row no unit has to move any. For
// blocks of 1024×1024 scores on v6e that spares attention a fifth of its cycles.

// tallEnough is how many rows fill a register.
const tallEnough = 8

// inLanes reports whether r is such scratch.
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

// alone is v with each number once, if it is a column.
func (k *kernel) alone(v value) value {
	if !v.lanes {
		return v
	}
	return k.fromLanes(v, []int{v.dims[0], 1})
}

// inLane is v, a column or to become one, in every lane.
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
