package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// one computes the only element of row row of a value, or the one that all elements
// of it are, in less time than lanes of one element would take.
type one func(w *plan.Frame, row int) float32

// single compiles e, of float32, which has one column or the same in all.
func (c *values) single(e *tile.Expr) one {
	binary := singles[e.Op]
	switch {
	case e.Op == tile.OpConst:
		return constant(float32(e.Dtype.Round(e.Value)))
	case e.Op == tile.OpBroadcast:
		x, from := c.single(e.Args[0]), e.Args[0].Shape
		if len(from) < 2 || from[0] == 1 {
			return func(w *plan.Frame, _ int) float32 { return x(w, 0) }
		}
		return x
	case e.Op == tile.OpLoad && e.Dtype == tile.Float32:
		r := c.plan.Number(e.Ref)
		ld := c.plan.Refs[r].LD
		return func(w *plan.Frame, row int) float32 {
			at := &w.Places[r]
			if row >= at.Rows || at.Cols == 0 {
				return 0
			}
			return memory.View[float32](w.Data[r])[at.Off+row*ld]
		}
	case e.Op == tile.OpReduceMax && e.Args[0].Op == tile.OpAbs && plan.AlongRow(e):
		if x := c.absMaxOfBits(e.Args[0].Args[0]); x != nil {
			return x
		}
	case binary != nil && e.Dtype == tile.Float32:
		x, y := c.single(e.Args[0]), c.single(e.Args[1])
		return func(w *plan.Frame, row int) float32 { return binary(x(w, row), y(w, row)) }
	}
	if e.Op == tile.OpRsqrt && e.Dtype == tile.Float32 {
		x := c.single(e.Args[0])
		return func(w *plan.Frame, row int) float32 { return float32(1 / math.Sqrt(float64(x(w, row)))) }
	}
	x := c.floats(e)
	return func(w *plan.Frame, row int) float32 { return x(w, row, 0, 1)[0] }
}

func constant(v float32) one { return func(*plan.Frame, int) float32 { return v } }

var singles = map[tile.Op]func(x, y float32) float32{
	tile.OpAdd: func(x, y float32) float32 { return x + y },
	tile.OpSub: func(x, y float32) float32 { return x - y },
	tile.OpMul: func(x, y float32) float32 { return x * y },
	tile.OpDiv: func(x, y float32) float32 { return x / y },
	tile.OpMax: func(x, y float32) float32 { return max(x, y) },
	tile.OpMin: func(x, y float32) float32 { return min(x, y) },
}
