package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// int4Weights is x @ w with w in int4 and one scale for each column of every 128
// rows of w: scales are of shape (k/128, 1, n).
type int4Weights struct{ m, k, n, bm, bk, bn int }

const channel = 128 // rows of w that share a scale

func (c int4Weights) program() ([]*tile.Program, error) {
	t := tile.New("int4_matmul")
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	zero := tile.Const(0)

	x := t.In("x", tile.BFloat16, tile.Array(c.m, c.k), tile.Block(c.bm, c.bk).At(i, k))
	w := t.In("w", tile.Int4, tile.Array(c.k, c.n), tile.Block(c.bk, c.bn).At(k, j))
	scales := t.In("scales", tile.Float32, tile.Array(tile.Ceil(c.k, channel), 1, c.n), tile.Block(c.bk/channel, tile.Squeezed, c.bn).At(k, zero, j))
	o := t.Out("o", tile.BFloat16, tile.Array(c.m, c.n), tile.Block(c.bm, c.bn).At(i, j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Loop("s", c.bk/channel, func(s *tile.Axis) {
		from := tile.Times(s, channel)
		wide := tile.Cast(tile.Slice(w, 0, from, channel), tile.BFloat16)
		part := tile.Dot(tile.Slice(x, 1, from, channel), wide)
		// The last block may have whole slices past the end: their scale is 0.
		exists := tile.Slice(tile.InBounds(scales, 0), 0, s, 1)
		t.Accumulate(acc, tile.Mul(part, tile.Select(exists, tile.Slice(scales, 0, s, 1), tile.Number(0))))
	})
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, tile.BFloat16)) })
	return t.Programs()
}

func TestInt4Weights(t *testing.T) {
	for _, c := range []int4Weights{
		{5, 512, 9, 4, 256, 8},
		{8, 384, 16, 8, 128, 16},
		{3, 640, 7, 2, 256, 3},  // the last block of k has one slice of two
		{6, 650, 11, 4, 512, 8}, // and here the second slice has 10 rows
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			o := run(t, programs, in...)[0]
			for i := range c.m {
				for j := range c.n {
					var want, size float64
					for l := range c.k {
						p := element(in[0], i, l) * element(in[1], l, j) * element(in[2], l/channel, 0, j)
						want += p
						size += math.Abs(p)
					}
					bound := epsFloat32*float64(tile.Ceil(c.k, channel))*size + epsBFloat16*math.Abs(want)
					near(t, element(o, i, j), want, 1.01*bound, i, j)
				}
			}
		})
	}
}
