package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// batched is a matmul for each element of a batch, with an activation at the
// end. Batch is a squeezed dimension, b is stored transposed.
type batched struct {
	batch, m, k, n, bm, bk, bn int
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
	t := tile.New("batched_matmul")
	e := t.Axis("e", c.batch, tile.Parallel)
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)

	a := t.In("a", tile.Float32, tile.Array(c.batch, c.m, c.k), tile.Block(tile.Squeezed, c.bm, c.bk).At(e, i, k))
	b := t.In("b", tile.Float32, tile.Array(c.batch, c.n, c.k), tile.Block(tile.Squeezed, c.bn, c.bk).At(e, j, k))
	o := t.Out("o", tile.BFloat16, tile.Array(c.batch, c.m, c.n), tile.Block(tile.Squeezed, c.bm, c.bn).At(e, i, j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b, tile.TransB))
	t.When(k.Last(), func() {
		t.Store(o, tile.Cast(activations[c.activation].block(acc), tile.BFloat16))
	})
	return t.Programs()
}

func TestBatchedMatmul(t *testing.T) {
	for _, c := range []batched{
		{3, 13, 21, 10, 8, 8, 4, "gelu"},
		{2, 7, 5, 11, 4, 5, 16, "silu"},
		{1, 16, 16, 16, 8, 8, 8, "relu"},
		{5, 1, 9, 1, 1, 2, 1, "tanh"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			o := run(t, programs, in...)[0]
			for e := range c.batch {
				for i := range c.m {
					for j := range c.n {
						var x, size float64
						for l := range c.k {
							p := element(in[0], e, i, l) * element(in[1], e, j, l)
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
