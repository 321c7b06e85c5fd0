package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// span says from which column to before which one of a row a condition holds. What
// attention masks is known so without asking each element: what is above a diagonal,
// outside a window, beyond the end of an array.
type span func(w *plan.Frame, row int) (from, to int)

// span sees e, a condition, as a span of each row; nil if it is not one.
func (c *values) span(e *tile.Expr) span {
	switch e.Op {
	case tile.OpAnd:
		x, y := c.span(e.Args[0]), c.span(e.Args[1])
		if x == nil || y == nil {
			return nil
		}
		return func(w *plan.Frame, row int) (int, int) {
			from, to := x(w, row)
			from2, to2 := y(w, row)
			return max(from, from2), min(to, to2)
		}
	case tile.OpBroadcast:
		shape := e.Args[0].Shape
		x := c.span(e.Args[0])
		if x == nil || len(shape) > 0 && shape[len(shape)-1] == 1 {
			return nil
		}
		if len(shape) < 2 || shape[0] == 1 {
			return func(w *plan.Frame, _ int) (int, int) { return x(w, 0) }
		}
		return x
	case tile.OpInBounds:
		r := c.plan.Number(e.Ref)
		if len(e.Shape) == 0 || e.Shape[len(e.Shape)-1] == 1 {
			return nil
		}
		ofCols := e.Dim == len(e.Ref.Shape())-1
		return func(w *plan.Frame, _ int) (int, int) {
			if ofCols {
				return 0, w.Places[r].Cols
			}
			return 0, w.Places[r].Rows
		}
	case tile.OpCompare:
		if !e.Args[0].Dtype.IsInteger() {
			return nil
		}
		x, y := lineOf(e.Args[0]), lineOf(e.Args[1])
		if x == nil || y == nil {
			return nil
		}
		return compared(x.less(y), e.Cmp)
	}
	return nil
}

// line is an integer that grows evenly along a row: slope · column + the rest.
type line struct {
	slope int
	rest  func(w *plan.Frame, row int) int
}

// lineOf sees e as a line; nil if it is none. Sums are those of integers that are
// far from where an int32 ends.
func lineOf(e *tile.Expr) *line {
	switch e.Op {
	case tile.OpIota:
		if e.Dim == len(e.Shape)-1 {
			return &line{1, func(*plan.Frame, int) int { return 0 }}
		}
		return &line{0, func(_ *plan.Frame, row int) int { return row }}
	case tile.OpIndex:
		return &line{0, func(w *plan.Frame, _ int) int { return int(int32(tile.Eval(e.Index, w))) }}
	case tile.OpConst:
		v := int(e.Dtype.Round(e.Value))
		return &line{0, func(*plan.Frame, int) int { return v }}
	case tile.OpBroadcast:
		if len(e.Args[0].Shape) == 0 {
			return lineOf(e.Args[0])
		}
	case tile.OpSub, tile.OpAdd:
		x, y := lineOf(e.Args[0]), lineOf(e.Args[1])
		if x == nil || y == nil {
			return nil
		}
		if e.Op == tile.OpSub {
			return x.less(y)
		}
		return &line{x.slope + y.slope, func(w *plan.Frame, row int) int { return x.rest(w, row) + y.rest(w, row) }}
	}
	return nil
}

func (x *line) less(y *line) *line {
	return &line{x.slope - y.slope, func(w *plan.Frame, row int) int { return x.rest(w, row) - y.rest(w, row) }}
}

// compared is where x is as op says of it and 0; nil if that is no span.
func compared(x *line, op tile.Comparison) span {
	switch x.slope {
	case 0:
		return func(w *plan.Frame, row int) (int, int) {
			if op.Holds(float64(x.rest(w, row)), 0) {
				return 0, math.MaxInt
			}
			return 0, 0
		}
	case 1:
	case -1: // turned over
		op = map[tile.Comparison]tile.Comparison{tile.LT: tile.GT, tile.LE: tile.GE, tile.GT: tile.LT, tile.GE: tile.LE, tile.EQ: tile.EQ, tile.NE: tile.NE}[op]
		return compared((&line{0, func(*plan.Frame, int) int { return 0 }}).less(x), op)
	default:
		return nil
	}
	if op == tile.NE {
		return nil
	}
	return func(w *plan.Frame, row int) (int, int) {
		zero := -x.rest(w, row) // the column at which x is 0
		switch op {
		case tile.LT:
			return 0, zero
		case tile.LE:
			return 0, zero + 1
		case tile.GT:
			return zero + 1, math.MaxInt
		case tile.GE:
			return zero, math.MaxInt
		}
		return zero, zero + 1
	}
}

// within is x in a span of the row and y outside.
func within[T any](i int, s span, x, y plan.Lanes[T]) plan.Lanes[T] {
	return func(w *plan.Frame, row, col, n int) []T {
		from, to := s(w, row)
		from = min(max(from-col, 0), n)
		to = min(max(to-col, from), n)
		switch {
		case from == 0 && to == n:
			return x(w, row, col, n)
		case from == to:
			return y(w, row, col, n)
		}
		a, b, out := x(w, row, col, n), y(w, row, col, n), vector[T](w, i, n)
		copy(out[:from], b)
		copy(out[from:to], a[from:])
		copy(out[to:], b[to:])
		return out
	}
}
