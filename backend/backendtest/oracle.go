package backendtest

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// memory remembers what does not depend on the backend: inputs, and what interp said of them.
type memory struct {
	sync.Mutex
	tensors map[string][]tile.Tensor
}

var (
	hashSeed = maphash.MakeSeed()
	oracles  = memory{tensors: map[string][]tile.Tensor{}}
	arrays   = memory{tensors: map[string][]tile.Tensor{}}
)

// recall returns what was made for a key, or what f makes; nobody may write to it.
func (m *memory) recall(key string, f func() []tile.Tensor) []tile.Tensor {
	m.Lock()
	defer m.Unlock()
	if _, ok := m.tensors[key]; !ok {
		m.tensors[key] = f()
	}
	return m.tensors[key]
}

// oracle returns what interp says of programs on in.
func oracle(t *testing.T, programs []*tile.Program, in []tile.Tensor) []tile.Tensor {
	t.Helper()
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for _, x := range in {
		h.Write(x.Data)
	}
	var key strings.Builder
	fmt.Fprintln(&key, h.Sum64())
	for _, p := range programs {
		key.WriteString(p.String())
	}
	return oracles.recall(key.String(), func() []tile.Tensor {
		out, err := interp.Run(context.Background(), programs, in)
		if err != nil {
			t.Fatalf("interp: %v", err)
		}
		return out
	})
}

// inputs makes the arrays that programs take, element by element; kind and seed
// say what element returns.
func inputs(t *testing.T, programs []*tile.Program, kind string, seed uint64, element func(rng *rand.Rand, r *tile.Ref) float64) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]tile.Tensor, len(bound.In))
	for i, r := range bound.In {
		key := fmt.Sprint(kind, seed, r.Name, r.Dtype, r.Array)
		in[i] = arrays.recall(key, func() []tile.Tensor {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			x := tile.NewTensor(r.Dtype, r.Array...)
			for e := range x.Len() {
				x.Set(e, element(rng, r))
			}
			return []tile.Tensor{x}
		})[0]
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
	return inputs(t, programs, "small", seed, func(rng *rand.Rand, r *tile.Ref) float64 {
		switch {
		case isScale(r):
			return 0.25
		case r.Name == "b_sums": // whatever they are, sums stay small
			return float64(rng.IntN(9) - 4)
		case r.Dtype == tile.Uint8:
			return float64(rng.IntN(8))
		}
		return float64(rng.IntN(7) - 3)
	})
}

// random makes inputs over the whole range of integers, and floats in [-1, 1).
func random(t *testing.T, programs []*tile.Program, seed uint64) []tile.Tensor {
	return inputs(t, programs, "random", seed, func(rng *rand.Rand, r *tile.Ref) float64 {
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
