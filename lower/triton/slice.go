package triton

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// slice takes elements along one dimension. Of an array it reads no more than
// those; of what is in registers it gathers them.
func (k *kernel) slice(e *tile.Expr) value {
	x := e.Args[0]
	start := k.Index(e.Index)
	switch x.Op {
	case tile.OpLoad:
		if _, whole := k.loads[x.Ref]; x.Ref.Kind != tile.Scratch && !whole {
			return k.loadFrom(x.Ref, k.startOf(e), e.Shape, nil)
		}
	case tile.OpInBounds:
		if mlir.Counted(x.Shape) == e.Dim {
			return k.InBounds(x, e.Index, e.Shape)
		}
	}
	v := k.Expr(x)
	rank := max(2, len(x.Shape))
	dim := e.Dim + rank - len(x.Shape)
	if v.Dims == nil || len(v.Dims) < rank || v.Dims[dim] == 1 || x.Shape[e.Dim] == 1 {
		return v // still to be repeated along it
	}
	if e.Shape[e.Dim] == x.Shape[e.Dim] {
		return v
	}
	to := slices.Clone(v.Dims)
	to[dim] = padded(e.Shape[e.Dim], k.least)
	at := k.along(dim, to)
	if !start.Is(0) {
		at = k.cheap("arith.addi", at, k.vectorOf(start, at.Type))
	}
	return k.gathered(v, e.Dtype, dim, at, to, x.Shape[e.Dim])
}

// startOf is where a slice of a block begins, by dimension.
func (k *kernel) startOf(e *tile.Expr) []value {
	at := make([]value, len(e.Shape))
	for d := range at {
		at[d] = k.Int(0)
	}
	at[e.Dim] = k.Index(e.Index)
	return at
}

// shown reads an operand of shownOf from memory as it is: it goes through no registers.
func (k *kernel) shown(e *tile.Expr) (v value, ok bool) {
	switch x := shownOf(e); {
	case x == nil:
		return v, false
	case x.Op == tile.OpSlice:
		return k.loadFrom(x.Args[0].Ref, k.startOf(x), x.Shape, e.Args[0]), true
	default:
		return k.loadFrom(x.Ref, nil, x.Shape, e.Args[0]), true
	}
}

// shownOf is the part of an input that e is where a condition holds, and zero elsewhere; nil for
// anything else.
func shownOf(e *tile.Expr) *tile.Expr {
	if e.Op != tile.OpSelect || e.Args[2].Op != tile.OpBroadcast {
		return nil
	}
	if zero := e.Args[2].Args[0]; zero.Op != tile.OpConst || zero.Value != 0 {
		return nil
	}
	x := e.Args[1]
	if from := source(x); from == nil || from.Ref.Kind != tile.In || from.Dtype.Bits() == 4 || x.Op == tile.OpCast {
		return nil
	}
	return x
}

// gathered takes the elements at along a dimension; those past the last of size are
// some other.
func (k *kernel) gathered(v value, d tile.Dtype, dim int, at value, to []int, size int) value {
	if d == tile.Bool {
		v = k.FromBool(v)
	} else {
		v = k.Wide(v, d) // narrow elements have no gather
	}
	last := k.Constant(at.Type, float64(size-1))
	at = k.spread(k.cheap("arith.minsi", at, last), to)
	out := shaped{Elem: v.Elem, Dims: to}
	v = k.Op(out, "tt.gather", axis(dim), v, at)
	if d == tile.Bool {
		return k.ToBool(v)
	}
	return v
}

// concat puts blocks one after another: each element is gathered from the block
// that it is in.
func (k *kernel) concat(e *tile.Expr) value {
	if len(e.Args) == 1 {
		return k.Expr(e.Args[0])
	}
	to := k.Physical(e.Shape)
	dim := e.Dim + len(to) - len(e.Shape)
	var all value
	from := 0
	for i, x := range e.Args {
		v, d := k.Expr(x), e.Dtype
		if d == tile.Bool {
			v, d = k.FromBool(v), tile.Int32
		}
		dims := k.Physical(x.Shape)
		for o := range dims { // as many alike rows or columns as the other blocks have
			if o != dim {
				dims[o] = to[o]
			}
		}
		v = k.Vector(k.Wide(v, d), shaped{Elem: mlir.Working(d), Dims: dims})
		at := k.along(dim, to)
		if from > 0 {
			at = k.cheap("arith.maxsi", k.cheap("arith.subi", at, k.Constant(at.Type, float64(from))), k.Constant(at.Type, 0))
		}
		n := x.Shape[e.Dim]
		if x.Op == tile.OpBroadcast && mlir.Physical(x.Args[0].Shape)[dim] == 1 { // all alike
			v = k.Vector(k.Wide(k.Expr(x), d), shaped{Elem: v.Elem, Dims: to})
		} else {
			v = k.gathered(v, d, dim, at, to, n)
		}
		if i == 0 {
			all = v
		} else {
			all = k.Choose(k.Below(dim, to, k.Int(from)), all, v)
		}
		from += n
	}
	if e.Dtype == tile.Bool {
		return k.ToBool(all)
	}
	return all
}
