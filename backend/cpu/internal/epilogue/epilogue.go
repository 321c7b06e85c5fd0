// Package epilogue compiles what a program computes beside its products: values become
// functions that make a piece of a row at a time, in vectors that stay in the L1 cache.
package epilogue

import (
	"slices"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/tile"
)

// Compile compiles the value of every step that is not a product alone, or of a
// product that tiles scale what they scale it by.
func Compile(p *plan.Plan) error {
	var err error
	plan.AllSteps(p.Steps, func(s *plan.Step) {
		if err != nil || s.Kind != plan.StepCompute {
			return
		}
		s.Lanes = plan.VectorLanes
		c := &values{plan: p, step: s}
		switch {
		case s.Rescaled != nil:
			s.Rescale, _ = c.stored(s.Rescaled, 0, tile.Float32, false, true)
		case !s.Direct:
			c.compile()
		case s.Dots[0].Scales != nil:
			compileScales(s.Dots[0].Scales, c)
		}
		if s.Store != nil && s.AtOnce == 0 {
			s.Passes += tile.Ceil(p.Refs[s.Dst].Cols, s.Lanes)
		}
		p.Vectors = max(p.Vectors, c.slots)
		err = c.err
	})
	return err
}

// values compiles the value of one step. Floats are computed in float32 and
// rounded after each operation whose dtype is narrower; integers in int32.
type values struct {
	plan  *plan.Plan
	step  *plan.Step
	slots int
	err   error

	rows int // stacked in one call; 0 or 1: none
}

func (c *values) fail(e *tile.Expr, format string, args ...any) {
	if c.err == nil {
		c.err = c.plan.Unsupported(e.Pos, format, args...)
	}
}

// slot reserves a row vector.
func (c *values) slot() int {
	c.slots++
	return c.slots - 1
}

// vector is row vector i of a worker, of n elements.
func vector[T any](w *plan.Frame, i, n int) []T {
	const size = plan.VectorLanes * 4
	return memory.View[T](w.Rows[i*size : (i+1)*size])[:n]
}

// elements are elements col … col+n-1 of row row of ref r, whose rows are ld apart.
func elements[T any](w *plan.Frame, r, ld, row, col, n int) []T {
	return memory.View[T](w.Data[r])[w.Places[r].Off+row*ld+col:][:n]
}

// moved compiles what moves elements of any dtype, or picks them; nil if e does not.
func moved[T any](c *values, e *tile.Expr, compile func(*tile.Expr) plan.Lanes[T]) plan.Lanes[T] {
	switch e.Op {
	case tile.OpDot:
		return loadTemp[T](c.step.DotOf(e))
	case tile.OpBroadcast:
		return broadcast(c, e, compile(e.Args[0]))
	case tile.OpSlice:
		return slice(c, e, compile(e.Args[0]))
	case tile.OpConcat:
		return concat(c, e, compile)
	case tile.OpSelect:
		if s := c.span(e.Args[0]); s != nil {
			return lanes(c, within(s, copied(compile(e.Args[1])), copied(compile(e.Args[2]))))
		}
		return choose(c, e, compile, rows.Select[T])
	}
	return nil
}

// floats compiles an expression of a float dtype.
func (c *values) floats(e *tile.Expr) plan.Lanes[float32] {
	if e.Dtype != tile.Float32 && e.Dtype != tile.BFloat16 && e.Op != tile.OpLoad && e.Op != tile.OpCast && e.Op != tile.OpSlice {
		c.fail(e, "%s of %s for %s", e.Op, e.Dtype, c.step.Stmt.Ref.Name)
		return nil
	}
	if arithmetic[e.Op][0] > 0 || e.Op == tile.OpNeg {
		if x := c.chain(e, rows.StoreFloat32, 4, false); x != nil {
			return c.computed(x, width(e))
		}
	}
	if x := c.into(e); x != nil {
		return lanes(c, x)
	}
	if e.Op == tile.OpSelect && c.span(e.Args[0]) == nil {
		return choose(c, e, c.floats, c.plan.Loops.Select)
	}
	if x := moved(c, e, c.floats); x != nil {
		return x
	}
	if fold, ok := folds[e.Op]; ok && !plan.AlongRow(e) {
		return reduceColumns(c, e, c.floats(e.Args[0]), binaryFloats(fold, &c.plan.Loops))
	}
	switch e.Op {
	case tile.OpLoad:
		return c.loadFloats(e)
	case tile.OpConst:
		return splat(c, float32(e.Dtype.Round(e.Value)))
	case tile.OpCast:
		return c.castToFloat(e)
	case tile.OpReduceMax:
		return c.rowMax(e)
	case tile.OpReduceSum:
		if x := c.sums(e); x != nil {
			return lanes(c, func(w *plan.Frame, row, _ int, out []float32) { x(w, row, out[:1]) })
		}
		return reduce(c, e, c.floats(e.Args[0]), c.plan.Exps.Sum, plus)
	}
	var f plan.Lanes[float32]
	switch binary := binaryFloats(e.Op, &c.plan.Loops); {
	case binary != nil:
		f = zip(c, c.floats(e.Args[0]), c.floats(e.Args[1]), binary)
	case e.Op == tile.OpNormalCDF:
		f = c.tabled(e, normalCDF())
	case e.Op == tile.OpLogistic:
		f = c.tabled(e, logistic())
	case unaryFloats[e.Op] != nil:
		f = apply(c, c.floats(e.Args[0]), unaryFloats[e.Op])
	default:
		c.fail(e, "%s of %s for %s", e.Op, e.Dtype, c.step.Stmt.Ref.Name)
		return nil
	}
	if e.Dtype == tile.BFloat16 {
		return c.rounded(e, f)
	}
	return f
}

// ints compiles an expression of an integer dtype.
func (c *values) ints(e *tile.Expr) plan.Lanes[int32] {
	if x := moved(c, e, c.ints); x != nil {
		return x
	}
	switch e.Op {
	case tile.OpLoad:
		return c.loadInts(e)
	case tile.OpConst:
		return splat(c, int32(e.Dtype.Round(e.Value)))
	case tile.OpCast:
		return c.castToInt(e)
	case tile.OpIota:
		isCol := e.Dim == len(e.Shape)-1
		return rowByRow(c, width(e), false, lanes(c, func(_ *plan.Frame, row, col int, out []int32) {
			for l := range out {
				if isCol {
					out[l] = int32(col + l)
				} else {
					out[l] = int32(row)
				}
			}
		}))
	case tile.OpIndex:
		x := c.once(func(w *plan.Frame) int { return tile.Eval(e.Index, w) })
		return lanes(c, func(w *plan.Frame, _, _ int, out []int32) { memory.Fill(out, int32(x(w))) })
	}
	binary := binaryInts(e.Op, &c.plan.Loops)
	fold, folded := folds[e.Op]
	switch {
	case e.Dtype != tile.Int32:
		c.fail(e, "%s of %s for %s", e.Op, e.Dtype, c.step.Stmt.Ref.Name)
	case folded && !plan.AlongRow(e):
		return reduceColumns(c, e, c.ints(e.Args[0]), binaryInts(fold, &c.plan.Loops))
	case e.Op == tile.OpReduceMax:
		return reduce(c, e, c.ints(e.Args[0]), slices.Max[[]int32], func(a, b int32) int32 { return max(a, b) })
	case e.Op == tile.OpReduceSum:
		return reduce(c, e, c.ints(e.Args[0]), total, plus)
	case binary != nil:
		return zip(c, c.ints(e.Args[0]), c.ints(e.Args[1]), binary)
	case unaryInts[e.Op] != nil:
		return apply(c, c.ints(e.Args[0]), unaryInts[e.Op])
	default:
		c.fail(e, "%s of %s for %s", e.Op, e.Dtype, c.step.Stmt.Ref.Name)
	}
	return nil
}

// bools compiles an expression of Bool.
func (c *values) bools(e *tile.Expr) plan.Lanes[bool] {
	if x := moved(c, e, c.bools); x != nil {
		return x
	}
	switch e.Op {
	case tile.OpAnd:
		return zip(c, c.bools(e.Args[0]), c.bools(e.Args[1]), pairs(func(x, y bool) bool { return x && y }))
	case tile.OpOr:
		return zip(c, c.bools(e.Args[0]), c.bools(e.Args[1]), pairs(func(x, y bool) bool { return x || y }))
	case tile.OpNot:
		return apply(c, c.bools(e.Args[0]), each(func(x bool) bool { return !x }))
	case tile.OpCompare:
		x, y := e.Args[0], e.Args[1]
		switch {
		case x.Dtype.IsFloat():
			return zip(c, c.floats(x), c.floats(y), compare[float32](e.Cmp))
		case x.Dtype.IsInteger():
			return zip(c, c.ints(x), c.ints(y), compare[int32](e.Cmp))
		}
	case tile.OpInBounds:
		return c.inBounds(e)
	}
	c.fail(e, "%s of bool for %s", e.Op, c.step.Stmt.Ref.Name)
	return nil
}

// inBounds says which rows or columns of a ref's block are inside its array; the
// answer may stand as a column or as a row.
func (c *values) inBounds(e *tile.Expr) plan.Lanes[bool] {
	r := c.plan.Number(e.Ref)
	ofCols := e.Dim == len(e.Ref.Shape())-1
	isRow := e.Shape[len(e.Shape)-1] > 1 || len(e.Shape) == 1
	return lanes(c, func(w *plan.Frame, row, col int, out []bool) {
		at := &w.Places[r]
		extent := at.Rows
		if ofCols {
			extent = at.Cols
		}
		for l := range out {
			if isRow {
				out[l] = col+l < extent
			} else {
				out[l] = row < extent
			}
		}
	})
}

// broadcast repeats x, of e's operand, to the shape of e.
func broadcast[T any](c *values, e *tile.Expr, x plan.Lanes[T]) plan.Lanes[T] {
	oneRow := plan.OneRow(e)
	if !plan.OneColumn(e) {
		return rowByRow(c, width(e), oneRow, func(w *plan.Frame, row, col, n int) []T {
			if oneRow {
				row = 0
			}
			return x(w, row, col, n)
		})
	}
	return lanes(c, func(w *plan.Frame, row, _ int, out []T) {
		if oneRow {
			row = 0
		}
		memory.Fill(out, x(w, row, 0, 1)[0])
	})
}

func zip[T, U any](c *values, x, y plan.Lanes[T], f func(o []U, x, y []T)) plan.Lanes[U] {
	return lanes(c, func(w *plan.Frame, row, col int, out []U) {
		f(out, x(w, row, col, len(out)), y(w, row, col, len(out)))
	})
}

func apply[T, U any](c *values, x plan.Lanes[T], f func(o []U, x []T)) plan.Lanes[U] {
	return lanes(c, func(w *plan.Frame, row, col int, out []U) { f(out, x(w, row, col, len(out))) })
}

// choose compiles e, which chooses by a condition.
func choose[T any](c *values, e *tile.Expr, compile func(*tile.Expr) plan.Lanes[T], pick func(dst, x, y []T, cond []bool)) plan.Lanes[T] {
	cond, x, y := c.bools(e.Args[0]), compile(e.Args[1]), compile(e.Args[2])
	return lanes(c, func(w *plan.Frame, row, col int, out []T) {
		n := len(out)
		pick(out, x(w, row, col, n), y(w, row, col, n), cond(w, row, col, n))
	})
}

// tabled compiles a function that is a table of cubics.
func (c *values) tabled(e *tile.Expr, of *rows.Cubics) plan.Lanes[float32] {
	return apply(c, c.floats(e.Args[0]), func(o, x []float32) { c.plan.Loops.Cubics(o, x, of) })
}

func splat[T any](c *values, v T) plan.Lanes[T] {
	return lanes(c, func(_ *plan.Frame, _, _ int, out []T) { memory.Fill(out, v) })
}

// rounded rounds x, of e's shape, to bfloat16.
func (c *values) rounded(e *tile.Expr, x plan.Lanes[float32]) plan.Lanes[float32] {
	return c.computed(c.chained([]link{{do: rows.Load, lanes: x}, {do: rows.Round}}, rows.StoreFloat32, 4, width(e)), width(e))
}

// compileScales makes the values of scales.
func compileScales(x *plan.Scales, c *values) {
	for _, v := range []struct {
		of      *tile.Expr
		to      *plan.Lanes[float32]
		compile func(*tile.Expr) plan.Lanes[float32]
	}{{x.Row, &x.RowsOf, c.down}, {x.Last, &x.LastOf, c.down}, {x.Column, &x.ColumnsOf, c.floats}, {x.Term, &x.TermsOf, c.floats}} {
		if v.of != nil {
			*v.to = v.compile(v.of)
		}
	}
}
