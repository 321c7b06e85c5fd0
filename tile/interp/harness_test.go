package interp_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// run runs programs that must be right, in row-major order, and again with the
// parallel programs shuffled: the outputs must be the same to the bit.
func run(t *testing.T, programs []*tile.Program, in ...tile.Tensor) []tile.Tensor {
	t.Helper()
	for _, p := range programs {
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		if p.String() == "" {
			t.Fatalf("%s prints nothing", p.Name)
		}
	}
	out, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 2; seed++ {
		shuffled, err := interp.RunWith(context.Background(), programs, in, interp.Options{Shuffle: seed})
		if err != nil {
			t.Fatalf("shuffled by %d: %v", seed, err)
		}
		for i := range out {
			if !bytes.Equal(shuffled[i].Data, out[i].Data) {
				t.Fatalf("shuffled by %d, output %d differs", seed, i)
			}
		}
	}
	return out
}

// must unwraps what a builder returned.
func must(t *testing.T) func([]*tile.Program, error) []*tile.Program {
	return func(programs []*tile.Program, err error) []*tile.Program {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return programs
	}
}

// inputs makes random inputs for programs, in the order of tile.Bind.
func inputs(t *testing.T, programs []*tile.Program) []tile.Tensor {
	t.Helper()
	bindings, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 0))
	in := make([]tile.Tensor, len(bindings.In))
	for i, r := range bindings.In {
		in[i] = randomTensor(random, r.Dtype, r.Array...)
	}
	return in
}

// randomTensor draws floats from the normal distribution and integers from their
// whole range.
func randomTensor(random *rand.Rand, d tile.Dtype, shape ...int) tile.Tensor {
	x := tile.NewTensor(d, shape...)
	lo, hi := d.Range()
	for i := range x.Len() {
		v := random.NormFloat64()
		if d.IsInteger() {
			v = math.Floor(lo + (hi-lo+1)*random.Float64())
		}
		x.Set(i, v)
	}
	return x
}

// element returns the element of t at the coordinates.
func element(t tile.Tensor, at ...int) float64 {
	i := 0
	for d, c := range at {
		i = i*t.Shape[d] + c
	}
	return t.At(i)
}

// near fails unless got is within bound of want; NaN never is.
func near(t *testing.T, got, want, bound float64, at ...int) {
	t.Helper()
	if !(math.Abs(got-want) <= bound) {
		t.Fatalf("element %v is %v, want %v ± %v", at, got, want, bound)
	}
}

// Unit roundoffs of the dtypes that the programs round to.
var (
	epsFloat32  = tile.Float32.Epsilon()
	epsBFloat16 = tile.BFloat16.Epsilon()
)
