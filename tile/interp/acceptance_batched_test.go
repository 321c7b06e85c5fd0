package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
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
	t := tile.New("batched_matmul")
	e := t.Axis("e", c.batch, tile.Parallel)
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)

	operand := func(name string, transposed bool, rows, cols, blockRows, blockCols int, row, col tile.IndexExpr) *tile.Ref {
		if transposed {
			rows, cols, blockRows, blockCols, row, col = cols, rows, blockCols, blockRows, col, row
		}
		return t.In(name, tile.Float32, tile.Array(c.batch, rows, cols), tile.Block(tile.Squeezed, blockRows, blockCols).At(e, row, col))
	}
	var opts []tile.DotOption
	if c.transA {
		opts = append(opts, tile.TransA)
	}
	if c.transB {
		opts = append(opts, tile.TransB)
	}
	a := operand("a", c.transA, c.m, c.k, c.bm, c.bk, i, k)
	b := operand("b", c.transB, c.k, c.n, c.bk, c.bn, k, j)
	o := t.Out("o", tile.BFloat16, tile.Array(c.batch, c.m, c.n), tile.Block(tile.Squeezed, c.bm, c.bn).At(e, i, j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b, opts...))
	t.When(k.Last(), func() {
		t.Store(o, tile.Cast(activations[c.activation].block(acc), tile.BFloat16))
	})
	return t.Programs()
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
