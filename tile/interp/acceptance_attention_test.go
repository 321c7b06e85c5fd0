package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// attention is causal self-attention with grouped queries: kvHeads heads of k
// and v serve heads heads of q.
type attention struct{ batch, heads, kvHeads, seq, dim, bq, bk int }

// program is flash attention: one pass over the blocks of k and v, with a running
// maximum and a running sum of each row.
func (c attention) program() ([]*tile.Program, error) {
	t := tile.New("flash_attention")
	b := t.Axis("b", c.batch, tile.Parallel)
	h := t.Axis("h", c.heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(c.seq, c.bq), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.seq, c.bk), tile.Arbitrary)
	zero, kvHead := tile.Const(0), tile.FloorDiv(h, c.heads/c.kvHeads)

	qArray, kvArray := tile.Array(c.batch, c.heads, c.seq, c.dim), tile.Array(c.batch, c.kvHeads, c.seq, c.dim)
	qBlock := tile.Block(tile.Squeezed, tile.Squeezed, c.bq, c.dim).At(b, h, i, zero)
	kvBlock := tile.Block(tile.Squeezed, tile.Squeezed, c.bk, c.dim).At(b, kvHead, j, zero)
	q := t.In("q", tile.BFloat16, qArray, qBlock)
	k := t.In("k", tile.BFloat16, kvArray, kvBlock)
	v := t.In("v", tile.BFloat16, kvArray, kvBlock)
	o := t.Out("o", tile.BFloat16, qArray, qBlock)
	scores := t.Scratch("scores", tile.Float32, c.bq, c.bk)
	acc := t.Scratch("acc", tile.Float32, c.bq, c.dim)
	rowMax := t.Scratch("row_max", tile.Float32, c.bq, 1)
	newMax := t.Scratch("new_max", tile.Float32, c.bq, 1)
	rowSum := t.Scratch("row_sum", tile.Float32, c.bq, 1)

	const never = -1e30
	t.When(j.First(), func() {
		t.Fill(acc, 0)
		t.Fill(rowMax, never)
		t.Fill(rowSum, 0)
	})
	notAbove := tile.Test(tile.Times(j, c.bk), tile.LE, tile.Plus(tile.Times(i, c.bq), tile.Const(c.bq-1)))
	t.When(notAbove, func() {
		row := tile.Add(tile.Iota(0, c.bq, c.bk), tile.IndexValue(tile.Times(i, c.bq)))
		col := tile.Add(tile.Iota(1, c.bq, c.bk), tile.IndexValue(tile.Times(j, c.bk)))
		visible := tile.And(tile.InBoundsRow(k, 0), tile.Compare(col, tile.LE, row))
		scaled := tile.Mul(tile.Dot(q, k, tile.TransB), tile.Number(1/math.Sqrt(float64(c.dim))))
		t.Store(scores, tile.Select(visible, scaled, tile.Number(never)))
		t.Store(newMax, tile.Max(rowMax, tile.RowMax(scores)))
		p := tile.Exp(tile.Sub(scores, newMax))
		shrink := tile.Exp(tile.Sub(rowMax, newMax))
		t.Store(rowSum, tile.Add(tile.Mul(rowSum, shrink), tile.RowSum(p)))
		t.Store(acc, tile.Add(tile.Mul(acc, shrink), tile.Dot(tile.Cast(p, tile.BFloat16), v)))
		t.Store(rowMax, newMax)
	})
	t.When(j.Last(), func() { t.Store(o, tile.Cast(tile.Div(acc, rowSum), tile.BFloat16)) })
	return t.Programs()
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
