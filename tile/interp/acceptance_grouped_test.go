package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/tile"
)

// grouped multiplies each block of bm rows of x by the weights of one expert,
// which a scalar table names.
type grouped struct{ experts, rows, k, n, bm, bk, bn int }

func (c grouped) program() ([]*tile.Program, error) {
	t := tile.New("grouped_matmul")
	i := t.Axis("i", tile.Ceil(c.rows, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)

	expert := t.Table("expert", tile.Ceil(c.rows, c.bm))
	x := t.In("x", tile.BFloat16, tile.Array(c.rows, c.k), tile.Block(c.bm, c.bk).At(i, k))
	w := t.In("w", tile.BFloat16, tile.Array(c.experts, c.k, c.n), tile.Block(tile.Squeezed, c.bk, c.bn).At(expert.At(i), k, j))
	o := t.Out("o", tile.Float32, tile.Array(c.rows, c.n), tile.Block(c.bm, c.bn).At(i, j))

	t.When(k.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(x, w))
	return t.Programs()
}

func TestGroupedMatmul(t *testing.T) {
	for _, c := range []grouped{{4, 50, 23, 17, 8, 8, 8}, {3, 32, 16, 16, 16, 16, 16}, {7, 5, 3, 2, 1, 2, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			expert := tile.NewTensor(tile.Int32, tile.Ceil(c.rows, c.bm))
			random := rand.New(rand.NewPCG(3, 0))
			for i := range expert.Len() {
				expert.Set(i, float64(random.IntN(c.experts)))
			}
			in[0] = expert
			o := run(t, programs, in...)[0]
			for i := range c.rows {
				e := int(expert.At(i / c.bm))
				for j := range c.n {
					var want, size float64
					for l := range c.k {
						p := element(in[1], i, l) * element(in[2], e, l, j)
						want += p
						size += math.Abs(p)
					}
					bound := epsFloat32 * float64(tile.Ceil(c.k, c.bk)) * size
					near(t, element(o, i, j), want, 1.01*bound, i, j)
				}
			}
		})
	}
}
