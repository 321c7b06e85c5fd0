package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/tile"
	"matladder/tile/tiletest"
)

// grouped multiplies each block of bm rows of x by the weights of one expert,
// which a scalar table names.
type grouped struct{ experts, rows, k, n, bm, bk, bn int }

func (c grouped) program() ([]*tile.Program, error) {
	return tiletest.Grouped(c.experts, c.rows, c.k, c.n, tile.Blocks{M: c.bm, K: c.bk, N: c.bn})
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
