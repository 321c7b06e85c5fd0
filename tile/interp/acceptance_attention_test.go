package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
	"matladder/tile/tiletest"
)

// attention is causal self-attention with grouped queries: kvHeads heads of k
// and v serve heads heads of q.
type attention struct{ batch, heads, kvHeads, seq, dim, bq, bk int }

func (c attention) program() ([]*tile.Program, error) {
	return tiletest.Attention(c.batch, c.heads, c.kvHeads, c.seq, c.dim, c.bq, c.bk)
}

func TestFlashAttention(t *testing.T) {
	for _, c := range []attention{
		{1, 1, 1, 16, 8, 8, 8},
		{2, 4, 2, 37, 16, 8, 16},
		{1, 6, 1, 29, 5, 16, 4},
		{2, 3, 3, 5, 4, 8, 8},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			o := run(t, programs, in...)[0]
			for b := range c.batch {
				for h := range c.heads {
					for i := range c.seq {
						c.checkRow(t, in[0], in[1], in[2], o, b, h, i)
					}
				}
			}
		})
	}
}

// checkRow compares one row of o with softmax(q kᵀ / √dim) v over the columns up
// to i, in float64 and in two passes.
func (c attention) checkRow(t *testing.T, q, k, v, o tile.Tensor, b, h, i int) {
	t.Helper()
	kv := h * c.kvHeads / c.heads
	p := make([]float64, i+1)
	largest, sum := math.Inf(-1), 0.0
	for j := range p {
		for d := range c.dim {
			p[j] += element(q, b, h, i, d) * element(k, b, kv, j, d)
		}
		p[j] /= math.Sqrt(float64(c.dim))
		largest = math.Max(largest, p[j])
	}
	for j := range p {
		p[j] = math.Exp(p[j] - largest)
		sum += p[j]
	}
	for d := range c.dim {
		var want, size float64
		for j := range p {
			want += p[j] / sum * element(v, b, kv, j, d)
			size += p[j] / sum * math.Abs(element(v, b, kv, j, d))
		}
		// bfloat16 rounds each probability and the result; float32 rounds the
		// scores, which exp magnifies, and the accumulators of each block.
		bound := (2*epsBFloat16 + 100*epsFloat32) * size
		near(t, element(o, b, h, i, d), want, 1.02*bound, b, h, i, d)
	}
}
