package check

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"matladder/problem"
	"matladder/tile"
)

// The distributions of inputs. Floats have mean zero: the bounds on long sums
// rest on that. None is constant, since multipliers run faster on constants.
const (
	Uniform  = "uniform"  // floats in [-1, 1); integers over their whole range, one pair of neighbours in k of 16 its ends
	Normal   = "normal"   // floats of a bell curve, each row of a and column of b up to 4 times wider or narrower; integers as above
	Integers = "integers" // integers in [-4, 4] ([0, 8] if unsigned): float32 and bfloat16 products are exact
)

// given is the distribution of inputs that Fill did not make.
const given = ""

// Distributions lists what Fill knows.
func Distributions() []string { return []string{Uniform, Normal, Integers} }

// Fill sets input array name of p from a seed and a distribution. The same seed gives the
// same array on every machine and for every number of workers. When ctx ends, t is left
// as it is by then and the error is that of ctx.
func Fill(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
	f, err := familyOf(p)
	switch {
	case err != nil:
		return err
	case !IsExact(dist) && !slices.Contains(Distributions(), dist):
		return fmt.Errorf("unknown distribution %q (known: %s)", dist, strings.Join(Distributions(), ", "))
	case IsExact(dist) && f.HasExact == nil:
		return fmt.Errorf("check: no exact probe of %s", problem.Title(p))
	}
	return f.Fill(ctx, t, name, p, seed, dist)
}

// FillPlain is Fill with independent numbers for each element, whatever the problem. Normal
// is as Uniform.
func FillPlain(ctx context.Context, t tile.Tensor, name string, _ problem.Problem, seed uint64, dist string) error {
	start := startOf(name, seed)
	n := t.Len()
	switch {
	case dist == Integers:
		lowest := -4.0
		if t.Dtype == tile.Uint8 {
			lowest = 0
		}
		return each(ctx, n, func(i int) { t.Set(i, float64(mix(start+uint64(i))%9)+lowest) })
	case t.Dtype == tile.Float32:
		data := t.Float32s()
		return each(ctx, n, func(i int) { data[i] = float32(2*unit(start, i) - 1) })
	case t.Dtype == tile.Int8 || t.Dtype == tile.Uint8:
		return each(ctx, n, func(i int) { t.Data[i] = byte(mix(start+uint64(i)) >> 56) })
	case t.Dtype.IsInteger():
		lo, hi := t.Dtype.Range()
		return each(ctx, n, func(i int) { t.Set(i, lo+math.Floor(unit(start, i)*(hi-lo+1))) })
	}
	return each(ctx, n, func(i int) { t.Set(i, 2*unit(start, i)-1) })
}

// pairOf returns the first of the two neighbours in k that element i of an operand is of.
func pairOf(name string, p problem.Matmul) func(i int) int {
	if name == "b" && !p.TransB {
		return func(i int) int { return i - i/p.N%p.K&1*p.N }
	}
	return func(i int) int { return i - i%p.K&1 }
}

// startOf is where the sequence of an array begins.
func startOf(name string, seed uint64) uint64 { return mix(seed ^ mix(hash(name))) }

// checkEvery is how many elements are made between two looks at a context.
const checkEvery = 1 << 16

// each calls f for 0 … n-1 on all cores until ctx ends, and returns ctx's error.
// Chunks are whole multiples of two, so that packed int4 pairs are never shared.
func each(ctx context.Context, n int, f func(i int)) error {
	workers := min(runtime.GOMAXPROCS(0), n/1024+1)
	chunk := (n/workers + 2) &^ 1
	var wg sync.WaitGroup
	for lo := 0; lo < n; lo += chunk {
		wg.Go(func() {
			for i := lo; i < min(lo+chunk, n); i++ {
				if i%checkEvery == 0 && ctx.Err() != nil {
					return
				}
				f(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// unit returns element i of a sequence in [0, 1), with 24 random bits, so that
// float32 holds it exactly.
func unit(start uint64, i int) float64 {
	return math.Ldexp(float64(mix(start+uint64(i))>>40), -24)
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014): element i
// of a sequence is computed from i alone.
func mix(x uint64) uint64 {
	x = x*0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// hash is 64-bit FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
