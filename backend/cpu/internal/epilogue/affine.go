package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// affine is a value (x + a) · b · w · d + c, a, b and d numbers of a row, w and c rows: what a norm
// makes of x when it knows its mean and its size, and scales of a sum. One loop does all of it
// where d is 1.
type affine struct {
	x, shift, by, row, last, term *tile.Expr // all but x are nil where there is none
	less                          bool       // shift is taken away
}

// affineOf takes e, of float32, apart from its end; nil where no number of a row is in it.
func affineOf(e *tile.Expr) *affine {
	aRow := func(e *tile.Expr) bool { return plan.OneRow(e) && !plan.OneColumn(e) }
	f := &affine{}
	f.x, f.term = plan.Apart(e, tile.OpAdd, aRow)
	f.x, f.last = plan.Apart(f.x, tile.OpMul, plan.OneColumn)
	f.x, f.row = plan.Apart(f.x, tile.OpMul, aRow)
	if f.row == nil {
		f.x, f.last, f.term = e, nil, nil
	}
	f.x, f.by = plan.Apart(f.x, tile.OpMul, plan.OneColumn)
	f.less = f.x.Op == tile.OpSub && plan.OneColumn(f.x.Args[1])
	if f.less {
		f.x, f.shift = f.x.Args[0], f.x.Args[1]
	} else {
		f.x, f.shift = plan.Apart(f.x, tile.OpAdd, plan.OneColumn)
	}
	if f.shift == nil && (f.by == nil || f.row == nil) { // a product with one number has a loop of its own
		return nil
	}
	return f
}

// noTerm is what changes nothing that it is added to.
var noTerm = float32(math.Copysign(0, -1))

// rowOf compiles e, or has the same number in all of a row where e is nil.
func (c *values) rowOf(e *tile.Expr, otherwise float32) plan.Lanes[float32] {
	if e != nil {
		return c.floats(e)
	}
	row := make([]float32, plan.VectorLanes)
	memory.Fill(row, otherwise)
	return func(_ *plan.Frame, _, _, n int) []float32 { return row[:n] }
}

// along compiles f by a loop for what its x is stored as, past the caches or not.
func along[T any](c *values, f *affine, x plan.Lanes[T], loop func(dst, x []T, a, b float32, w, c []float32, past bool), past bool) into[T] {
	a, b, factors, terms := constant(noTerm), constant(1), c.rowOf(f.row, 1), c.rowOf(f.term, noTerm)
	if f.shift != nil {
		a = c.single(f.shift)
	}
	if f.less {
		plus := a
		a = func(w *plan.Frame, row int) float32 { return -plus(w, row) }
	}
	if f.by != nil {
		b = c.single(f.by)
	}
	return func(w *plan.Frame, row, col int, out []T) {
		n := len(out)
		v, by, plus := x(w, row, col, n), factors(w, row, col, n), terms(w, row, col, n)
		loop(out, v, a(w, row), b(w, row), by, plus, past)
	}
}

// affineInto compiles f, of float32. A last factor that is not 1 takes two more loops.
func (c *values) affineInto(f *affine, past bool) into[float32] {
	x, l := c.floats(f.x), &c.plan.Loops
	whole := along(c, f, x, l.Affine, past)
	if f.last == nil {
		return whole
	}
	bare := *f
	bare.term = nil
	scaled, last, terms := along(c, &bare, x, l.Affine, false), c.single(f.last), c.rowOf(f.term, noTerm)
	return func(w *plan.Frame, row, col int, out []float32) {
		by := last(w, row)
		if by == 1 {
			whole(w, row, col, out)
			return
		}
		plus := terms(w, row, col, len(out))
		scaled(w, row, col, out)
		l.Scale(out, out, by)
		l.Add(out, out, plus)
	}
}

// affineTo compiles a value that is stored as the step's destination is, where its loop can
// store it so; nil where it cannot.
func (c *values) affineTo(e *tile.Expr, d tile.Dtype, past bool) plan.Writer {
	if e.Dtype != tile.Float32 || d != tile.Float32 && d != tile.BFloat16 {
		return nil
	}
	f := affineOf(e)
	switch {
	case f == nil:
	case d == tile.Float32:
		return written(c, c.affineInto(f, past))
	case f.last == nil && bits(f.x) != nil:
		return written(c, along(c, f, loadSame[uint16](c, c.plan.Number(bits(f.x))), c.plan.Loops.AffineBFloat16, past))
	}
	return nil
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
	if ref := bits(y); ref != nil {
		return reduceLess(c, e, loadSame[uint16](c, c.plan.Number(ref)), less, c.plan.Exps.SquaresBFloat16, plus)
	}
	return reduceLess(c, e, c.floats(y), less, c.plan.Exps.Squares, plus)
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
	return !read && bytes > p.Machine.L3
}
