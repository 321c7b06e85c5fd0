package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// span sees e, a condition, as a span of each row, where it holds; nil if it is not one. What
// attention masks is known so without asking each element: what is above a diagonal,
// outside a window, beyond the end of an array.
func (c *values) span(e *tile.Expr) plan.Span {
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
		return c.compared(x.less(y), e.Cmp)
	}
	return nil
}

// once is x, which is the same in all of a program.
func (c *values) once(x func(w *plan.Frame) int) func(w *plan.Frame) int {
	memo := c.plan.Memos
	c.plan.Memos++
	return func(w *plan.Frame) int { return w.Once(memo, x) }
}

// line is an integer that grows evenly along rows and from row to row: col · column +
// row · row + the rest.
type line struct {
	col, row int
	rest     func(w *plan.Frame) int
}

func level(v int) func(*plan.Frame) int { return func(*plan.Frame) int { return v } }

// lineOf sees e as a line; nil if it is none. Sums are those of integers that are
// far from where an int32 ends.
func lineOf(e *tile.Expr) *line {
	switch e.Op {
	case tile.OpIota:
		if e.Dim == len(e.Shape)-1 {
			return &line{1, 0, level(0)}
		}
		return &line{0, 1, level(0)}
	case tile.OpIndex:
		return &line{0, 0, func(w *plan.Frame) int { return int(int32(tile.Eval(e.Index, w))) }}
	case tile.OpConst:
		return &line{0, 0, level(int(e.Dtype.Round(e.Value)))}
	case tile.OpBroadcast:
		if len(e.Args[0].Shape) == 0 {
			return lineOf(e.Args[0])
		}
	case tile.OpSub, tile.OpAdd:
		x, y := lineOf(e.Args[0]), lineOf(e.Args[1])
		switch {
		case x == nil || y == nil:
			return nil
		case e.Op == tile.OpSub:
			return x.less(y)
		}
		return &line{x.col + y.col, x.row + y.row, func(w *plan.Frame) int { return x.rest(w) + y.rest(w) }}
	}
	return nil
}

func (x *line) less(y *line) *line {
	return &line{x.col - y.col, x.row - y.row, func(w *plan.Frame) int { return x.rest(w) - y.rest(w) }}
}

// compared is where x is as op says of it and 0; nil if that is no span.
func (c *values) compared(x *line, op tile.Comparison) plan.Span {
	switch x.col {
	case 0:
		slope, rest := x.row, c.once(x.rest)
		return func(w *plan.Frame, row int) (int, int) {
			if op.Holds(float64(slope*row+rest(w)), 0) {
				return 0, math.MaxInt
			}
			return 0, 0
		}
	case 1:
	case -1: // turned over
		op = map[tile.Comparison]tile.Comparison{tile.LT: tile.GT, tile.LE: tile.GE, tile.GT: tile.LT, tile.GE: tile.LE, tile.EQ: tile.EQ, tile.NE: tile.NE}[op]
		return c.compared((&line{0, 0, level(0)}).less(x), op)
	default:
		return nil
	}
	if op == tile.NE {
		return nil
	}
	slope, rest := x.row, c.once(x.rest)
	return func(w *plan.Frame, row int) (int, int) {
		zero := -(slope*row + rest(w)) // the column at which x is 0
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
func within[T any](s plan.Span, x, y into[T]) into[T] {
	return func(w *plan.Frame, row, col int, out []T) {
		from, to := s(w, row)
		from = min(max(from-col, 0), len(out))
		to = min(max(to-col, from), len(out))
		if from > 0 {
			y(w, row, col, out[:from])
		}
		if from < to {
			x(w, row, col+from, out[from:to])
		}
		if to < len(out) {
			y(w, row, col+to, out[to:])
		}
	}
}

// copied has lanes in out.
func copied[T any](x plan.Lanes[T]) into[T] {
	return func(w *plan.Frame, row, col int, out []T) { copy(out, x(w, row, col, len(out))) }
}

// chosen compiles e, which chooses by a condition, if that is a span of each row.
func (c *values) chosen(e *tile.Expr) into[float32] {
	s := c.span(e.Args[0])
	if s == nil {
		return nil
	}
	side := func(e *tile.Expr) into[float32] {
		if x := c.into(e); x != nil {
			return x
		}
		if uniform(e) {
			x := c.single(e)
			return func(w *plan.Frame, row, _ int, out []float32) { memory.Fill(out, x(w, row)) }
		}
		return copied(c.floats(e))
	}
	return within(s, side(e.Args[1]), side(e.Args[2]))
}

// banded is the span of each row of e in which it has more than one number; nil if that is
// not known.
func (c *values) banded(e *tile.Expr) plan.Span {
	if e.Op != tile.OpSelect || !uniform(e.Args[2]) {
		return nil
	}
	return c.span(e.Args[0])
}
