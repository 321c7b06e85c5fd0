package stablehlo_test

import (
	"context"
	"math"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// steps returns the least and the largest that each element of output k may be where
// operations round their result: those that are steps (round, comparisons, casts to
// fewer bits) jump where such a result lies beside one, and the text, in float32, and
// interp, in float64, may then stand on either side. Each step behind an operation
// that rounds is asked a little below its argument, at it and a little above, in every
// combination. Other programs mean one thing: the two are equal.
func steps(t *testing.T, programs []*tile.Program, in []tile.Tensor, k int) (lo, hi tile.Tensor) {
	t.Helper()
	var places []**tile.Expr
	for _, p := range programs {
		p.Walk(func(s *tile.Stmt) {
			if s.Value == nil {
				return
			}
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				if isStep(e) && rounds(e.Args[0]) {
					places = append(places, &e.Args[0])
				}
			})
		})
	}
	const most = 6
	if len(places) > most {
		t.Skipf("%d steps behind operations that round", len(places))
	}
	combinations := 1
	for range places {
		combinations *= 3
	}
	exact := make([]*tile.Expr, len(places))
	for i, at := range places {
		exact[i] = *at
	}
	for c := range combinations {
		for i, at := range places {
			*at = nudged(exact[i], c%3-1)
			c /= 3
		}
		out, err := interp.Run(context.Background(), programs, in)
		for i, at := range places {
			*at = exact[i]
		}
		if err != nil {
			t.Fatal(err)
		}
		if lo.Data == nil {
			lo, hi = tile.NewTensor(out[k].Dtype, out[k].Shape...), tile.NewTensor(out[k].Dtype, out[k].Shape...)
			for i := range out[k].Len() {
				lo.Set(i, out[k].At(i))
				hi.Set(i, out[k].At(i))
			}
		}
		for i := range out[k].Len() {
			lo.Set(i, min(lo.At(i), out[k].At(i)))
			hi.Set(i, max(hi.At(i), out[k].At(i)))
		}
	}
	return lo, hi
}

// isStep reports whether e may jump where its argument, a float, hardly changes.
func isStep(e *tile.Expr) bool {
	switch e.Op {
	case tile.OpRoundEven, tile.OpCompare:
		return e.Args[0].Dtype.IsFloat()
	case tile.OpCast:
		return e.Args[0].Dtype.IsFloat() && e.Dtype != tile.Float32
	}
	return false
}

// rounds reports whether e has an operation that rounds even on small integers.
func rounds(e *tile.Expr) bool {
	found := false
	tile.WalkExpr(e, func(e *tile.Expr) {
		switch e.Op {
		case tile.OpDiv, tile.OpExp, tile.OpExp2, tile.OpLog, tile.OpTanh, tile.OpNormalCDF, tile.OpLogistic, tile.OpRsqrt:
			found = true
		}
	})
	return found
}

// cancellation returns how far each element of output k moves when what an operation
// has rounded moves by a few roundings of float32 ahead of an addition or subtraction:
// tanh(x) + 1 near x = -4 keeps few of tanh's digits. One argument is moved at a time,
// and the movements are added.
func cancellation(t *testing.T, programs []*tile.Program, in []tile.Tensor, k int) []float64 {
	t.Helper()
	run := func() tile.Tensor {
		out, err := interp.Run(context.Background(), programs, in)
		if err != nil {
			t.Fatal(err)
		}
		return out[k]
	}
	exact := run()
	moved := make([]float64, exact.Len())
	for _, p := range programs {
		p.Walk(func(s *tile.Stmt) {
			if s.Value == nil {
				return
			}
			var places []**tile.Expr
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				for i, x := range e.Args {
					if (e.Op == tile.OpAdd || e.Op == tile.OpSub) && x.Dtype.IsFloat() && rounds(x) {
						places = append(places, &e.Args[i])
					}
				}
			})
			for _, at := range places {
				x := *at
				*at = tile.Mul(x, tile.Number(1+4*tile.Float32.Epsilon()))
				out := run()
				*at = x
				for i := range moved {
					if d := math.Abs(out.At(i) - exact.At(i)); d < math.Inf(1) {
						moved[i] += d
					}
				}
			}
		})
	}
	return moved
}

// nudged is x and a little more or less, as much as some operations in float32 differ
// by from those in float64.
func nudged(x *tile.Expr, direction int) *tile.Expr {
	if direction == 0 {
		return x
	}
	little := tile.Number(float64(direction) * 64 * tile.Float32.Epsilon())
	return tile.Add(x, tile.Mul(tile.Add(tile.Abs(x), tile.Number(1)), little))
}
