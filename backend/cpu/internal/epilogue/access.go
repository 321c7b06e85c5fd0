package epilogue

import (
	"slices"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/tile"
)

// CanHold reports whether values of d can be read and written.
func CanHold(d tile.Dtype) bool {
	switch d {
	case tile.Float32, tile.BFloat16, tile.Float16, tile.Float8E8M0FNU, tile.Int32, tile.Int8, tile.Uint8:
		return true
	}
	return false
}

func (c *values) loadFloats(e *tile.Expr) plan.Lanes[float32] {
	r := c.plan.Number(e.Ref)
	switch e.Dtype {
	case tile.Float32:
		return loadSame[float32](c, r)
	case tile.BFloat16:
		c.step.Loads = append(c.step.Loads, r)
		narrow := loadAs(c, r, c.plan.Loops.FromBFloat16)
		return func(w *plan.Frame, row, col, n int) []float32 {
			if wide := &w.Wide[r]; wide.Holds(row) && n <= wide.LD {
				return wide.Row(row, col, n)
			}
			return narrow(w, row, col, n)
		}
	}
	switch {
	case e.Dtype == tile.Float16:
		return loadAs(c, r, fromFloat16)
	case e.Dtype.Bits() == 8:
		return loadAs(c, r, fromCodes(e.Dtype))
	case e.Dtype == tile.Float4E2M1FN:
		return loadNibbles(c, r)
	}
	c.fail(e, "load of %s: no arithmetic on %s", e.Ref.Name, e.Dtype)
	return nil
}

func (c *values) loadInts(e *tile.Expr) plan.Lanes[int32] {
	r := c.plan.Number(e.Ref)
	switch e.Dtype {
	case tile.Int32:
		return loadSame[int32](c, r)
	case tile.Int8:
		return loadAs(c, r, convert[int32, int8])
	case tile.Uint8:
		return loadAs(c, r, convert[int32, uint8])
	}
	c.fail(e, "load of %s: no arithmetic on %s", e.Ref.Name, e.Dtype)
	return nil
}

// loadSame reads rows of ref r where they lie.
func loadSame[T any](c *values, r int) plan.Lanes[T] {
	of := &c.plan.Refs[r]
	copied, ld, width := loadAs(c, r, func(dst, x []T) { copy(dst, x) }), of.LD, of.Cols
	return func(w *plan.Frame, row, col, n int) []T {
		at, count := &w.Places[r], tile.Ceil(n, width)
		if row+count <= at.Rows && col+min(n, width) <= at.Cols && (count == 1 || width == ld) {
			return elements[T](w, r, ld, row, col, n)
		}
		return copied(w, row, col, n)
	}
}

// loadAs reads and converts rows of ref r, one or several that are stacked; what its block has
// beyond the array is zero.
func loadAs[T, S any](c *values, r int, convert func(o []T, x []S)) plan.Lanes[T] {
	ld, width, loop := c.plan.Refs[r].LD, c.plan.Refs[r].Cols, rows.Each(convert)
	return lanes(c, func(w *plan.Frame, row, col int, out []T) {
		at, count, n := &w.Places[r], tile.Ceil(len(out), width), min(len(out), width)
		inside, have := min(max(at.Rows-row, 0), count), min(max(at.Cols-col, 0), n)
		if inside < count || have < n {
			clear(out)
		}
		if inside > 0 && have > 0 {
			loop(out, n, elements[S](w, r, ld, row, col, (inside-1)*ld+have), ld, inside, have)
		}
	})
}

// loadNibbles reads rows of ref r, of float4; what its block has beyond the array is zero.
func loadNibbles(c *values, r int) plan.Lanes[float32] {
	ref := &c.plan.Refs[r]
	return lanes(c, func(w *plan.Frame, row, col int, out []float32) {
		at, bytes := &w.Places[r], memory.View[byte](w.Data[r])
		clear(out)
		for i := range out { // of one row, or of several that are stacked
			if y, x := row+i/ref.Cols, col+i%ref.Cols; y < at.Rows && x < at.Cols {
				n := at.Off + y*ref.LD + x
				out[i] = float32(tile.Float4E2M1FN.Value(bytes[n/2] >> (n % 2 * 4) & 0xF))
			}
		}
	})
}

// loadTemp reads the piece of a product that was computed last.
func loadTemp[T any](d *plan.Dot) plan.Lanes[T] {
	return func(w *plan.Frame, row, col, n int) []T {
		return memory.View[T](d.Temp.Of(w.Mem))[(row-w.Row)*d.LD+col-w.Col:][:n]
	}
}

func (c *values) castToFloat(e *tile.Expr) plan.Lanes[float32] {
	x := e.Args[0]
	narrow := e.Dtype == tile.BFloat16
	switch {
	case e.Dtype != tile.Float32 && !narrow && x.Dtype != tile.Float32:
		c.fail(e, "cast of %s to %s", x.Dtype, e.Dtype)
		return nil
	case e.Dtype != tile.Float32 && !narrow:
		d := e.Dtype
		return apply(c, c.floats(x), each(func(x float32) float32 { return float32(d.Round(float64(x))) }))
	case x.Dtype == tile.Bool:
		return apply(c, c.bools(x), each(func(x bool) float32 { return float32(oneIf(x)) }))
	case x.Dtype.IsInteger() && narrow:
		return apply(c, c.ints(x), each(integerToBFloat16))
	case x.Dtype.IsInteger():
		return apply(c, c.ints(x), c.plan.Loops.FromInt32)
	case narrow:
		return c.rounded(e, c.floats(x))
	}
	return c.floats(x)
}

func (c *values) castToInt(e *tile.Expr) plan.Lanes[int32] {
	x := e.Args[0]
	if !CanHold(e.Dtype) {
		c.fail(e, "cast to %s", e.Dtype)
		return nil
	}
	lo, hi := e.Dtype.Range()
	switch {
	case x.Dtype == tile.Bool:
		return apply(c, c.bools(x), each(oneIf))
	case x.Dtype.IsInteger():
		return apply(c, c.ints(x), func(o, x []int32) {
			for i := range o {
				o[i] = min(max(x[i], int32(lo)), int32(hi))
			}
		})
	}
	return apply(c, c.floats(x), each(func(x float32) int32 { return saturate(x, lo, hi) }))
}

func oneIf(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// compile makes the step's writers.
func (c *values) compile() {
	s := c.step.Stmt
	d, v := s.Ref.Dtype, s.Value
	integer := d.IsInteger()
	if s.Kind == tile.Store && v.Op == tile.OpCast && v.Args[0].Dtype == tile.Float32 {
		switch {
		case d == tile.Float16:
			c.step.Store = writeTo(c, c.floats(v.Args[0]), toFloat16)
			return
		case d.IsFloat() && d.Bits() == 8:
			c.step.Store = writeTo(c, c.floats(v.Args[0]), each(func(x float32) uint8 { return d.Code(float64(x)) }))
			return
		}
	}
	if !CanHold(d) || d.IsFloat() && d.Bits() == 8 || d == tile.Float16 && s.Kind != tile.Store || s.Kind == tile.Accumulate && d.Bits() < 32 && integer {
		c.fail(v, "%s to %s: no arithmetic on %s", s.Kind, s.Ref.Name, d)
		return
	}
	if d == tile.Int8 && s.Kind == tile.Store && v.Op == tile.OpCast && v.Args[0].Dtype.IsFloat() {
		c.step.Store = c.codes(v.Args[0])
		return
	}
	if integer {
		x := c.ints(v)
		switch d {
		case tile.Int32:
			c.step.Store = writeTo(c, x, func(o, x []int32) { copy(o, x) })
			c.step.Add = writeTo(c, x, func(o, x []int32) { c.plan.Loops.AddInt32(o, o, x) })
		case tile.Int8:
			c.step.Store = writeTo(c, x, convert[int8, int32])
		case tile.Uint8:
			c.step.Store = writeTo(c, x, convert[uint8, int32])
		}
		return
	}
	if s.Kind == tile.Store && d == tile.Float32 {
		c.step.Span = c.banded(v)
	}
	for v.Op == tile.OpCast && d == tile.BFloat16 && s.Kind == tile.Store && v.Args[0].Dtype.IsFloat() {
		v = v.Args[0] // the store rounds, once
		if v.Op != tile.OpCast || v.Args[0].Op != tile.OpCast || v.Args[0].Dtype != d {
			break
		}
		v = v.Args[0]
	}
	if dst := &c.plan.Refs[c.step.Dst]; d == tile.Float32 && s.Kind == tile.Store && dst.Cols == 1 && dst.LD == 1 {
		c.step.Down = c.storeDown(c.down(v))
		return
	}
	past, keep := nonTemporal(c.plan, c.step)
	if s.Kind == tile.Store && len(c.step.Dots) == 0 && !s.IsPart() && c.stack(v) {
		c.stackedStore(v, d, past && !keep)
		return
	}
	if d == tile.Float16 {
		c.step.Store = writeTo(c, c.floats(v), toFloat16)
		return
	}
	of := func(write rowsWriter) plan.Writer {
		return func(w *plan.Frame, row, col, n int) { write(w, row, col, 1, n) }
	}
	if s.Kind == tile.Accumulate {
		load := &tile.Expr{Op: tile.OpLoad, Ref: s.Ref, Dtype: d, Shape: v.Shape, Pos: v.Pos}
		sum, _ := c.stored(&tile.Expr{Op: tile.OpAdd, Dtype: tile.Float32, Shape: v.Shape, Args: []*tile.Expr{load, v}}, 0, d, false, true)
		c.step.Add = of(sum)
	}
	if c.step.Keeps = past && keep; c.step.Keeps {
		c.plan.Wides = append(c.plan.Wides, &plan.Wide{Ref: c.step.Dst})
	}
	write, atOnce := c.stored(v, 0, d, past, past || d == tile.BFloat16)
	if write == nil {
		x := c.into(v)
		if x == nil {
			x = copied(c.floats(v))
		}
		c.step.Store = written(c, x)
		c.storeRows(v)
		return
	}
	if c.step.Store = of(write); s.Kind == tile.Store {
		c.step.StoreRows, c.step.AtOnce = write, atOnce
	}
}

// convert changes the type of integers, whose value the new one has.
func convert[D, S int8 | uint8 | int32](o []D, x []S) {
	for i := range o {
		o[i] = D(x[i])
	}
}

// writeTo combines x with the destination's row.
func writeTo[D, T any](c *values, x plan.Lanes[T], combine func(o []D, x []T)) plan.Writer {
	r := c.step.Dst
	ld := c.plan.Refs[r].LD
	return func(w *plan.Frame, row, col, n int) {
		combine(elements[D](w, r, ld, row, col, n), x(w, row, col, n))
	}
}

// nonTemporal reports whether a destination is written along rows by non-temporal stores: each
// block once, and more than the caches of its cores hold. Steps that go along the same rows may read
// it: for them rows are kept as float32.
func nonTemporal(p *plan.Plan, s *plan.Step) (past, keep bool) {
	r := &p.Refs[s.Dst]
	if s.Stmt.Kind != tile.Store || len(s.Dots) > 0 || s.Stmt.IsPart() || !p.WrittenOnce(r) || r.ArrayBytes() <= p.Machine.L2*int64(p.Machine.Workers) {
		return false, false
	}
	reads, near := 0, 0
	plan.AllSteps(p.Steps, func(g *plan.Step) {
		along := g.Kind == plan.StepRowLoop && slices.Contains(g.Body, s)
		if g.Kind == plan.StepCompute && tile.Loads(g.Stmt.Value, r.Ref) {
			reads++
		}
		for _, x := range g.Body {
			if along && tile.Loads(x.Stmt.Value, r.Ref) {
				near++
			}
		}
	})
	return reads == near && (reads == 0 || r.Cols == r.LD && r.Cols*4*s.Strip <= plan.WideRow), reads > 0
}
