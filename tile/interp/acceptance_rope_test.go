package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// rope rotates pairs of elements, half a row apart, by angles that grow with the
// position: rotary position embedding.
type rope struct{ heads, seq, dim, bs int }

func (c rope) program() ([]*tile.Program, error) {
	t := tile.New("rope")
	h := t.Axis("h", c.heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(c.seq, c.bs), tile.Parallel)
	zero, half := tile.Const(0), c.dim/2

	angles := tile.Block(c.bs, half).At(i, zero)
	x := t.In("x", tile.BFloat16, tile.Array(c.heads, c.seq, c.dim), tile.Block(tile.Squeezed, c.bs, c.dim).At(h, i, zero))
	cos := t.In("cos", tile.Float32, tile.Array(c.seq, half), angles)
	sin := t.In("sin", tile.Float32, tile.Array(c.seq, half), angles)
	o := t.Out("o", tile.BFloat16, tile.Array(c.heads, c.seq, c.dim), tile.Block(tile.Squeezed, c.bs, c.dim).At(h, i, zero))

	wide := tile.Cast(x, tile.Float32)
	first := tile.Slice(wide, 1, zero, half)
	second := tile.Slice(wide, 1, tile.Const(half), half)
	turned := tile.Concat(1, tile.Neg(second), first)
	rotated := tile.Add(tile.Mul(wide, tile.Concat(1, cos, cos)), tile.Mul(turned, tile.Concat(1, sin, sin)))
	t.Store(o, tile.Cast(rotated, tile.BFloat16))
	return t.Programs()
}

func TestRope(t *testing.T) {
	for _, c := range []rope{{2, 13, 8, 4}, {1, 8, 2, 8}, {3, 5, 16, 8}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			half := c.dim / 2
			angle := func(s, d int) float64 { return float64(s) * math.Pow(10000, -float64(d)/float64(half)) }
			for s := range c.seq {
				for d := range half {
					in[1].Set(s*half+d, math.Cos(angle(s, d)))
					in[2].Set(s*half+d, math.Sin(angle(s, d)))
				}
			}
			o := run(t, programs, in...)[0]
			for h := range c.heads {
				for s := range c.seq {
					for d := range half {
						// The pair as a complex number, turned.
						z := complex(element(in[0], h, s, d), element(in[0], h, s, d+half))
						y := z * complex(math.Cos(angle(s, d)), math.Sin(angle(s, d)))
						size := math.Abs(real(z)) + math.Abs(imag(z))
						near(t, element(o, h, s, d), real(y), (1.01*epsBFloat16+2*epsFloat32)*size, h, s, d)
						near(t, element(o, h, s, d+half), imag(y), (1.01*epsBFloat16+2*epsFloat32)*size, h, s, d+half)
					}
				}
			}
		})
	}
}
