package mosaic_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/lower/mosaic"
	"matladder/lower/mosaic/mosaictest"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestProgramMeaning runs the text of programs beyond the ladder on random
// inputs and compares with interp.
func TestProgramMeaning(t *testing.T) {
	cases, err := mosaictest.Small()
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range cases {
		t.Run(fmt.Sprintf("%s.%d", c.Name, n), func(t *testing.T) {
			in := randomInputs(t, c)
			want, err := interp.Run(context.Background(), c.Programs, in)
			if err != nil {
				t.Fatal(err)
			}
			e, err := device{}.Compile(context.Background(), c.Programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Load(in...); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Run(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			bound, err := tile.Bind(c.Programs)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]tile.Tensor, len(bound.Out))
			for i, r := range bound.Out {
				got[i] = tile.NewTensor(r.Dtype, r.Array...)
			}
			if err := e.Results(got...); err != nil {
				t.Fatal(err)
			}
			for o := range want {
				largest := 0.0
				for i := range want[o].Len() {
					largest = max(largest, math.Abs(want[o].At(i)))
				}
				for i := range want[o].Len() {
					if w, g := want[o].At(i), got[o].At(i); !(math.Abs(w-g) <= c.Rounding*largest) {
						t.Fatalf("%s[%d] is %v, should be %v", bound.Out[o].Name, i, g, w)
					}
				}
			}
		})
	}
}

// randomInputs draws floats from the normal distribution, integers from their
// whole range, and tables, unless the case has them, from the blocks that there are.
func randomInputs(t *testing.T, c mosaictest.Case) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(c.Programs)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 0))
	in := make([]tile.Tensor, len(bound.In))
	for i, r := range bound.In {
		in[i] = tile.NewTensor(r.Dtype, r.Array...)
		lo, hi := r.Dtype.Range()
		if r.Kind == tile.Table {
			lo, hi = 0, 3
		}
		for e := range in[i].Len() {
			v := random.NormFloat64()
			if r.Dtype.IsInteger() {
				v = math.Floor(lo + (hi-lo+1)*random.Float64())
			}
			if t := c.Tables[r.Name]; t != nil {
				v = float64(t[e])
			}
			in[i].Set(e, v)
		}
	}
	return in
}

// TestTiled: programs whose blocks are whole tiles pass every check.
func TestTiled(t *testing.T) {
	cases, err := mosaictest.Tiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if _, err := mosaic.Lower(c.Programs, mosaic.Options{}); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, target := range mosaic.Targets()[1:] {
			if err := target.Check(c.Programs, 0); err != nil {
				t.Errorf("%s on %s: %v", c.Name, target.Name, err)
			}
		}
	}
}
