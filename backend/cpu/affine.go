package cpu

import (
	"math"

	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// affine is a value (x + a) · b · w + c, a and b numbers of a row, w and c rows: what a norm
// makes of x when it knows its mean and its size. One loop does all of it.
type affine struct {
	plan *plan
	x    lanes[float32]
	a, b one
	w, c lanes[float32] // nil for none
}

// affineOf takes e apart from its end; nil where no number of a row is in it.
func (c *values) affineOf(e *tile.Expr) *affine {
	if e.Dtype != tile.Float32 {
		return nil
	}
	aRow := func(e *tile.Expr) bool { return oneRow(e) && !oneColumn(e) }
	rest, term := apart(e, tile.OpAdd, aRow)
	rest, row := apart(rest, tile.OpMul, aRow)
	if row == nil {
		rest, term = e, nil
	}
	rest, by := apart(rest, tile.OpMul, oneColumn)
	less := rest.Op == tile.OpSub && oneColumn(rest.Args[1])
	var shift *tile.Expr
	if less {
		rest, shift = rest.Args[0], rest.Args[1]
	} else {
		rest, shift = apart(rest, tile.OpAdd, oneColumn)
	}
	if by == nil && shift == nil {
		return nil
	}
	f := &affine{plan: c.plan, x: c.floats(rest), a: constant(float32(math.Copysign(0, -1))), b: constant(1)}
	if shift != nil {
		f.a = c.single(shift)
	}
	if less {
		plus := f.a
		f.a = func(w *frame, row int) float32 { return -plus(w, row) }
	}
	if by != nil {
		f.b = c.single(by)
	}
	if row != nil {
		f.w = c.floats(row)
	}
	if term != nil {
		f.c = c.floats(term)
	}
	return f
}

// into sets out to elements col … of row row.
func (f *affine) into(w *frame, out []float32, row, col int) {
	var by, plus []float32
	n := len(out)
	x := f.x(w, row, col, n)
	if f.w != nil {
		by = f.w(w, row, col, n)
	}
	if f.c != nil {
		plus = f.c(w, row, col, n)
	}
	f.plan.loops.Affine(out, x, f.a(w, row), f.b(w, row), by, plus)
}

// lanes is f where its value goes on to something else.
func (f *affine) lanes(slot int) lanes[float32] {
	return func(w *frame, row, col, n int) []float32 {
		out := vector[float32](w, slot, n)
		f.into(w, out, row, col)
		return out
	}
}

// store writes f to the destination, of float32.
func (f *affine) store(r int) writer {
	ld := f.plan.refs[r].ld
	return func(w *frame, row, col, n int) {
		f.into(w, view[float32](w.data[r])[w.places[r].off+row*ld+col:][:n], row, col)
	}
}

// squares compiles the sum of (x − a)² along each row, a being a number of the row; nil
// if e, a sum, is not of squares.
func (c *values) squares(e *tile.Expr) lanes[float32] {
	y := e.Args[0]
	if e.Dtype != tile.Float32 || y.Op != tile.OpMul || !sameValue(y.Args[0], y.Args[1]) {
		return nil
	}
	y = y.Args[0]
	less := constant(0)
	if y.Op == tile.OpSub && oneColumn(y.Args[1]) {
		less, y = c.single(y.Args[1]), y.Args[0]
	}
	i, x, width, loop := c.slot(), c.floats(y), y.Shape[len(y.Shape)-1], c.plan.exps.Squares
	return func(w *frame, row, _, _ int) []float32 {
		out, from, sum := vector[float32](w, i, 1), less(w, row), float32(0)
		for col := 0; col < width; col += vectorLanes {
			sum += loop(x(w, row, col, min(vectorLanes, width-col)), from)
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
func (p *plan) nonTemporal(s *step) bool {
	r := &p.refs[s.dst]
	if s.stmt.Kind != tile.Store || len(s.dots) > 0 || s.stmt.IsPart() || !p.writtenOnce(r) {
		return false
	}
	bytes, read := int64(0), false
	for i := range p.refs {
		if p.refs[i].Kind != tile.Scratch {
			bytes += p.refs[i].ArrayBytes()
		}
	}
	allSteps(p.steps, func(x *step) {
		read = read || x.kind == stepCompute && reads(x.stmt.Value, r.Ref)
	})
	return !read && bytes > int64(probe.Host().L3)
}
