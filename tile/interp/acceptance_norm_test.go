package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// layerNorm normalizes each row of dim elements, in blocks that are wider than
// a row.
type layerNorm struct{ rows, dim, br, bd int }

const normEpsilon = 1e-5

func (c layerNorm) program() ([]*tile.Program, error) {
	t := tile.New("layer_norm")
	i := t.Axis("i", tile.Ceil(c.rows, c.br), tile.Parallel)
	zero := tile.Const(0)

	x := t.In("x", tile.Float32, tile.Array(c.rows, c.dim), tile.Block(c.br, c.bd).At(i, zero))
	gamma := t.In("gamma", tile.Float32, tile.Array(c.dim), tile.Block(c.bd).At(zero))
	beta := t.In("beta", tile.Float32, tile.Array(c.dim), tile.Block(c.bd).At(zero))
	o := t.Out("o", tile.Float32, tile.Array(c.rows, c.dim), tile.Block(c.br, c.bd).At(i, zero))
	centred := t.Scratch("centred", tile.Float32, c.br, c.bd)

	inRow := tile.InBounds(x, 1)
	mean := func(v tile.Value) *tile.Expr {
		return tile.Mul(tile.RowSum(tile.Select(inRow, v, tile.Number(0))), tile.Number(1/float64(c.dim)))
	}
	t.Store(centred, tile.Sub(x, mean(x)))
	variance := mean(tile.Mul(centred, centred))
	normal := tile.Mul(centred, tile.Rsqrt(tile.Add(variance, tile.Number(normEpsilon))))
	t.Store(o, tile.Add(tile.Mul(normal, gamma), beta))
	return t.Programs()
}

func TestLayerNorm(t *testing.T) {
	for _, c := range []layerNorm{{11, 100, 4, 128}, {3, 8, 2, 8}, {5, 1, 8, 4}, {2, 33, 1, 64}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			o := run(t, programs, in...)[0]
			for i := range c.rows {
				var sum, squares float64
				for d := range c.dim {
					x := element(in[0], i, d)
					sum += x
					squares += x * x
				}
				mean := sum / float64(c.dim)
				deviation := math.Sqrt(squares/float64(c.dim) - mean*mean + normEpsilon)
				for d := range c.dim {
					normal := (element(in[0], i, d) - mean) / deviation
					want := normal*in[1].At(d) + in[2].At(d)
					// Float32 constants (1/dim, epsilon) and one rounding of the centred
					// row, relative to what the row holds.
					bound := 8 * epsFloat32 * (math.Abs(want) + (math.Abs(normal)+math.Abs(mean)/deviation)*math.Abs(in[1].At(d)))
					near(t, element(o, i, d), want, bound+1e-7, i, d)
				}
			}
		})
	}
}
