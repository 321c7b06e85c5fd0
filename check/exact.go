package check

import (
	"context"
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// The distributions of exact probes: small integers, so few to a sum that no partial sum
// is rounded, or one alone in a way that is known. Every right program gives the one
// answer that a Reference knows of each element. They are for verifying, not for
// measuring.
const (
	Exact       = "exact"        // for devices that add float32 as IEEE 754 has it
	ExactNarrow = "exact_narrow" // for others: float32 operands of 8 bits, no sum of float32 that is rounded
)

// IsExact reports whether a distribution is one of exact probes.
func IsExact(dist string) bool { return dist == Exact || dist == ExactNarrow }

// fillExact sets input array name of an exact probe of p.
func fillExact(ctx context.Context, t tile.Tensor, name string, p problem.Matmul, seed uint64, dist string) error {
	n := t.Len() / p.Batch
	for e := range p.Batch {
		x, err := newPattern(p, e, seed, dist)
		if err == nil {
			err = x.fill(ctx, t, e*n, name)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fill sets the elements of array name from at on.
func (x *pattern) fill(ctx context.Context, t tile.Tensor, at int, name string) error {
	p := x.p
	byRow := func(rows, cols int, f func(dst []float64, i int), put func(i int, row []float64)) error {
		some := func(lo, hi int) {
			row := make([]float64, cols)
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				f(row, i)
				put(i, row)
			}
		}
		if t.Dtype.Bits() < 8 { // neighbours share a byte
			some(0, rows)
			return ctx.Err()
		}
		return parallel(ctx, rows, some)
	}
	groupsB := operandCodes("b", p, x.scheme)
	switch name {
	case "a":
		return byRow(p.M, p.K, func(dst []float64, i int) {
			x.rowOfA(dst, i)
			for k := range dst {
				if x.scheme.Dynamic {
					dst[k] *= x.scaleA(i) * x.groupA(k)
				}
				dst[k] += x.zeroA()
			}
		}, func(i int, row []float64) { t.SetAll(at+i*p.K, row) })
	case "b":
		return byRow(p.K, p.N, func(dst []float64, k int) {
			x.rowOfB(dst, k, 0)
			if x.scheme.ZeroB {
				for j := range dst {
					dst[j] += x.zeroB(k, j)
				}
			}
		}, func(k int, row []float64) {
			if !p.TransB {
				t.SetAll(at+k*p.N, row)
				return
			}
			for j, v := range row {
				t.Set(at+j*p.K+k, v)
			}
		})
	case "bias":
		for j := range p.N {
			t.Set(at+j, x.bias(j))
		}
	case "ta", "tb":
		t.Set(at, 2)
	case "sa", "za":
		shape := operandCodes("a", p, x.scheme).Shape(p.M, p.K)
		for i := range int(tile.Elements(shape)) {
			if name == "sa" {
				t.Set(at+i, x.scaleA(i/shape[1])*x.groupA(i%shape[1]*x.scheme.Block))
			} else {
				t.Set(at+i, x.zeroA())
			}
		}
	case "sb", "zb":
		for k := 0; k < p.K; k += max(1, groupStep(x.scheme, p.K)) {
			for j := range p.N {
				g := groupsB.Group(k, j, p.N)
				if name == "sb" {
					t.Set(at+g, x.scaleB(k, j))
				} else {
					t.Set(at+g, x.zeroB(k, j))
				}
			}
		}
	default:
		return fmt.Errorf("check: no input %q in an exact probe", name)
	}
	return ctx.Err()
}

// groupStep is how many elements of a column of b share a scale.
func groupStep(s problem.Scheme, k int) int {
	if s.B == problem.Block {
		return s.Block
	}
	return k
}
