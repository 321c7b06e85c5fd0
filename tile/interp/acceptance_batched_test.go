package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
	"matladder/tile/tiletest"
)

// batched is a matmul for each element of a batch, with an activation at the
// end. Batch is a squeezed dimension; a and b may be stored transposed.
type batched struct {
	batch, m, k, n, bm, bk, bn int
	transA, transB             bool
	activation                 string
}

// activations are what the epilogue may do, and what that is in float64.
var activations = map[string]struct {
	block func(tile.Value) *tile.Expr
	exact func(float64) float64
}{
	"relu": {tile.Relu, func(x float64) float64 { return max(x, 0) }},
	"silu": {tile.Silu, func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
	"gelu": {tile.Gelu, func(x float64) float64 { return x * 0.5 * math.Erfc(-x/math.Sqrt2) }},
	"tanh": {tile.Tanh, func(x float64) float64 { return 1 - 2/(math.Exp(2*x)+1) }},
}

func (c batched) program() ([]*tile.Program, error) {
	return tiletest.Batched(c.batch, [3]int{c.m, c.k, c.n}, tile.Blocks{M: c.bm, K: c.bk, N: c.bn}, c.transA, c.transB, activations[c.activation].block)
}

func TestBatchedMatmul(t *testing.T) {
	for _, c := range []batched{
		{3, 13, 21, 10, 8, 8, 4, false, true, "gelu"},
		{2, 7, 5, 11, 4, 5, 16, true, false, "silu"},
		{1, 16, 16, 16, 8, 8, 8, false, false, "relu"},
		{2, 9, 14, 6, 4, 4, 4, true, true, "gelu"},
		{5, 1, 9, 1, 1, 2, 1, true, true, "tanh"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			at := func(x tile.Tensor, transposed bool, e, row, col int) float64 {
				if transposed {
					row, col = col, row
				}
				return element(x, e, row, col)
			}
			o := run(t, programs, in...)[0]
			for e := range c.batch {
				for i := range c.m {
					for j := range c.n {
						var x, size float64
						for l := range c.k {
							p := at(in[0], c.transA, e, i, l) * at(in[1], c.transB, e, l, j)
							x += p
							size += math.Abs(p)
						}
						want := activations[c.activation].exact(x)
						// No activation here is steeper than 1.13 anywhere.
						bound := 1.13*epsFloat32*float64(tile.Ceil(c.k, c.bk))*size + epsBFloat16*math.Abs(want)
						near(t, element(o, e, i, j), want, 1.01*bound+1e-15, e, i, j)
					}
				}
			}
		})
	}
}
