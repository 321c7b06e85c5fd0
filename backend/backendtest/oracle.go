package backendtest

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// oracles remembers what interp said.
var oracles = struct {
	sync.Mutex
	seed maphash.Seed
	out  map[string][]tile.Tensor
}{seed: maphash.MakeSeed(), out: map[string][]tile.Tensor{}}

// oracle returns what interp says of programs on in; nobody may write to it.
func oracle(t *testing.T, programs []*tile.Program, in []tile.Tensor) []tile.Tensor {
	t.Helper()
	var h maphash.Hash
	h.SetSeed(oracles.seed)
	for _, x := range in {
		h.Write(x.Data)
	}
	key := fmt.Sprint(h.Sum64())
	for _, p := range programs {
		key += "\n" + p.String()
	}
	oracles.Lock()
	defer oracles.Unlock()
	if out := oracles.out[key]; out != nil {
		return out
	}
	out, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Fatalf("interp: %v", err)
	}
	oracles.out[key] = out
	return out
}

// inputs makes the arrays that programs take, element by element.
func inputs(t *testing.T, programs []*tile.Program, element func(r *tile.Ref) float64) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]tile.Tensor, len(bound.In))
	for i, r := range bound.In {
		in[i] = tile.NewTensor(r.Dtype, r.Array...)
		for e := range in[i].Len() {
			in[i].Set(e, element(r))
		}
	}
	return in
}

// outputs makes arrays that Results can fill.
func outputs(t *testing.T, programs []*tile.Program) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]tile.Tensor, len(bound.Out))
	for i, r := range bound.Out {
		out[i] = tile.NewTensor(r.Dtype, r.Array...)
	}
	return out
}

// smallIntegers makes inputs whose products and sums are exact in any order;
// scales are powers of two.
func smallIntegers(t *testing.T, programs []*tile.Program, seed uint64) []tile.Tensor {
	rng := rand.New(rand.NewPCG(seed, 0))
	return inputs(t, programs, func(r *tile.Ref) float64 {
		switch {
		case isScale(r):
			return 0.25
		case r.Dtype == tile.Uint8:
			return float64(rng.IntN(8))
		}
		return float64(rng.IntN(7) - 3)
	})
}

// random makes inputs over the whole range of integers, and floats in [-1, 1).
func random(t *testing.T, programs []*tile.Program, seed uint64) []tile.Tensor {
	rng := rand.New(rand.NewPCG(seed, 1))
	return inputs(t, programs, func(r *tile.Ref) float64 {
		lo, hi := r.Dtype.Range()
		switch {
		case isScale(r):
			return (1 + rng.Float64()) / 256
		case r.Dtype.IsInteger():
			return lo + float64(rng.IntN(int(hi-lo)+1))
		}
		return 2*rng.Float64() - 1
	})
}

func isScale(r *tile.Ref) bool { return r.Name == "sa" || r.Name == "sb" }

func copies(ts []tile.Tensor) []tile.Tensor {
	out := make([]tile.Tensor, len(ts))
	for i, t := range ts {
		out[i] = t
		out[i].Data = append([]byte(nil), t.Data...)
	}
	return out
}
