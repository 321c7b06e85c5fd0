package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// affine compiles a value (x + a) · b · w + c, a and b numbers of a row, w and c rows: what a
// norm makes of x when it knows its mean and its size. One loop does all of it. It takes e, of
// float32, apart from its end; nil where no number of a row is in it.
func (c *values) affine(e *tile.Expr) into[float32] {
	aRow := func(e *tile.Expr) bool { return plan.OneRow(e) && !plan.OneColumn(e) }
	rest, term := plan.Apart(e, tile.OpAdd, aRow)
	rest, row := plan.Apart(rest, tile.OpMul, aRow)
	if row == nil {
		rest, term = e, nil
	}
	rest, by := plan.Apart(rest, tile.OpMul, plan.OneColumn)
	less := rest.Op == tile.OpSub && plan.OneColumn(rest.Args[1])
	var shift *tile.Expr
	if less {
		rest, shift = rest.Args[0], rest.Args[1]
	} else {
		rest, shift = plan.Apart(rest, tile.OpAdd, plan.OneColumn)
	}
	if shift == nil && (by == nil || row == nil) { // a product with one number has a loop of its own
		return nil
	}
	x, a, b := c.floats(rest), constant(float32(math.Copysign(0, -1))), constant(1)
	if shift != nil {
		a = c.single(shift)
	}
	if less {
		plus := a
		a = func(w *plan.Frame, row int) float32 { return -plus(w, row) }
	}
	if by != nil {
		b = c.single(by)
	}
	factors, terms := c.rowOf(row), c.rowOf(term)
	return func(w *plan.Frame, row, col int, out []float32) {
		n := len(out)
		v, by, plus := x(w, row, col, n), factors(w, row, col, n), terms(w, row, col, n)
		c.plan.Loops.Affine(out, v, a(w, row), b(w, row), by, plus)
	}
}

// rowOf compiles e, or has nothing of nil.
func (c *values) rowOf(e *tile.Expr) plan.Lanes[float32] {
	if e == nil {
		return func(*plan.Frame, int, int, int) []float32 { return nil }
	}
	return c.floats(e)
}

// squares compiles the sum of (x − a)² along each row, a being a number of the row; nil
// if e, a sum, is not of squares.
func (c *values) squares(e *tile.Expr) plan.Lanes[float32] {
	y := e.Args[0]
	if e.Dtype != tile.Float32 || y.Op != tile.OpMul || !sameValue(y.Args[0], y.Args[1]) {
		return nil
	}
	y = y.Args[0]
	less := constant(0)
	if y.Op == tile.OpSub && plan.OneColumn(y.Args[1]) {
		less, y = c.single(y.Args[1]), y.Args[0]
	}
	i, x, width, loop := c.slot(), c.floats(y), y.Shape[len(y.Shape)-1], c.plan.Exps.Squares
	return func(w *plan.Frame, row, _, _ int) []float32 {
		out, from, sum := vector[float32](w, i, 1), less(w, row), float32(0)
		for col := 0; col < width; col += plan.VectorLanes {
			sum += loop(x(w, row, col, min(plan.VectorLanes, width-col)), from)
		}
		out[0] = sum
		return out
	}
}

// sameValue reports whether two values are the same one, or load the same ref.
func sameValue(x, y *tile.Expr) bool {
	return x == y || x.Op == tile.OpLoad && y.Op == tile.OpLoad && x.Ref == y.Ref
}

// nonTemporal reports whether a destination is written along rows by non-temporal stores:
// each block once, to be read by no step of the program, and of a program whose arrays the
// last cache would not hold until the next one reads them.
func nonTemporal(p *plan.Plan, s *plan.Step) bool {
	r := &p.Refs[s.Dst]
	if s.Stmt.Kind != tile.Store || len(s.Dots) > 0 || s.Stmt.IsPart() || !p.WrittenOnce(r) {
		return false
	}
	bytes, read := int64(0), false
	for i := range p.Refs {
		if p.Refs[i].Kind != tile.Scratch {
			bytes += p.Refs[i].ArrayBytes()
		}
	}
	plan.AllSteps(p.Steps, func(x *plan.Step) {
		read = read || x.Kind == plan.StepCompute && tile.Loads(x.Stmt.Value, r.Ref)
	})
	return !read && bytes > int64(probe.Host().L3)
}
