package mosaic

import (
	"fmt"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// slice takes elements along one dimension. Of a ref it reads no more than
// those, from wherever the program says; of a computed value the place must be
// known while the text is written.
func (k *kernel) slice(e *tile.Expr) value {
	x := e.Args[0]
	start := k.Index(e.Index)
	from, known := start.Int()
	switch x.Op {
	case tile.OpLoad:
		if _, whole := k.loads[x.Ref]; !whole || !known {
			return k.loadFrom(x.Ref, map[int]value{e.Dim: start}, e.Shape)
		}
	case tile.OpInBounds:
		if mlir.Counted(x.Shape) == e.Dim {
			return k.InBounds(x, e.Index, e.Shape)
		}
	}
	v := k.alone(k.Expr(x))
	dim := e.Dim + len(v.Dims) - len(x.Shape)
	if v.Dims == nil || dim < 0 || v.Dims[dim] == 1 {
		return v // still to be repeated along it
	}
	if !known {
		k.Refuse("slice", "", "where it starts changes in a loop of more than "+fmt.Sprint(unrolled)+" repetitions, and it is not of a ref: store the value to scratch first")
		return v
	}
	if e.Shape[e.Dim] == v.Dims[dim] {
		return v
	}
	return k.unpacked(e.Dtype, []value{v}, func(vs []value) value { return k.along(vs[0], dim, from, e.Shape[e.Dim]) })
}

// concat puts blocks one after another.
func (k *kernel) concat(e *tile.Expr) value {
	vs := each.Of(e.Args, func(x *tile.Expr) value { return k.alone(k.Expr(x)) })
	if len(vs) == 1 {
		return vs[0]
	}
	to := mlir.Physical(e.Shape)
	dim := e.Dim + len(to) - len(e.Shape)
	return k.unpacked(e.Dtype, vs, func(vs []value) value {
		for i, x := range e.Args {
			vs[i] = k.Vector(vs[i], shaped{Elem: vs[i].Elem, Dims: mlir.Physical(x.Shape)})
		}
		return k.Op(shaped{Elem: vs[0].Elem, Dims: to}, "tpu.concatenate", fmt.Sprintf("dimension = %d : i32", dim), vs...)
	})
}

// unpacked moves elements of d around by means of move, at the full width of a
// register: narrow elements share one, and bools have none.
func (k *kernel) unpacked(d tile.Dtype, vs []value, move func([]value) value) value {
	v := move(each.Of(vs, func(v value) value {
		if d == tile.Bool {
			return k.FromBool(v)
		}
		return k.Wide(v, d)
	}))
	if d == tile.Bool {
		return k.ToBool(v)
	}
	return v
}
