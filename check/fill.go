package check

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// The distributions of inputs. Floats have mean zero: the bounds on long sums
// rest on that. None of these is constant, since multipliers run faster on constants.
const (
	Uniform  = "uniform"  // floats in [-1, 1); integers over their whole range, one pair of neighbours in k of 16 its ends
	Normal   = "normal"   // floats of a bell curve, each row of a and column of b up to 4 times wider or narrower; integers as above
	Integers = "integers" // integers in [-4, 4] ([0, 8] if unsigned): float32 and bfloat16 products are exact
)

// given is the distribution of inputs that Fill did not make.
const given = ""

// Changed is the distribution of inputs that are not as Fill made them and change again soon: a
// Reference of it computes few rows and all random combinations, which the seed says.
const Changed = "changed"

// Independent reports whether an element of input array name may be any number of its
// distribution, whatever the others are, and whatever is told of the problem.
func Independent(name string) bool {
	return slices.Contains([]string{"a", "b", "bias", "x", "w", "residual", "gate", "up", "q", "k", "v"}, name)
}

// Distributions lists what Fill knows; the numbers are examples.
func Distributions() []string {
	return []string{Uniform, Normal, Integers, Zeros, Ones, Bits + ":4", Sparse + ":50"}
}

// Fill sets input array name of p from a seed and a distribution. Elements that no element of
// the output depends on are NaN: what no row of attention sees, the matrix of a group without rows.
// The same seed gives the
// same array on every machine and for every number of workers. When ctx ends, t is left
// as it is by then and the error is that of ctx.
func Fill(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
	f, err := familyOf(p)
	if err == nil && !IsExact(dist) {
		_, err = ParseInputs(dist)
	}
	switch {
	case err != nil:
		return err
	case IsExact(dist) && f.HasExact == nil:
		return fmt.Errorf("check: no exact probe of %s", problem.Title(p))
	}
	if err := f.Fill(ctx, t, name, p, seed, dist); err != nil || !Independent(name) {
		return err
	}
	return change(ctx, t, name, seed, dist)
}

// FillPlain is Fill with independent numbers for each element, whatever the problem. Normal
// is as Uniform.
func FillPlain(ctx context.Context, t tile.Tensor, name string, _ problem.Problem, seed uint64, dist string) error {
	start := startOf(name, seed)
	switch {
	case dist == Integers:
		lowest := -4.0
		if t.Dtype == tile.Uint8 {
			lowest = 0
		}
		return setEach(ctx, t, func(i int) float64 { return float64(mix(start+uint64(i))%9) + lowest })
	case t.Dtype.IsInteger():
		return setEach(ctx, t, anyOf(t.Dtype, start))
	}
	return setEach(ctx, t, func(i int) float64 { return 2*unit(start, i) - 1 })
}

// anyOf returns the elements of a sequence of integers over the whole range of d.
func anyOf(d tile.Dtype, start uint64) func(i int) float64 {
	if d == tile.Int8 {
		return func(i int) float64 { return float64(int8(mix(start+uint64(i)) >> 56)) }
	}
	lo, hi := d.Range()
	return func(i int) float64 { return lo + math.Floor(unit(start, i)*(hi-lo+1)) }
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

// setEach sets element i of t to f(i) for all i, on all cores until ctx ends, and returns ctx's
// error. f may look at the element, and at no other.
func setEach(ctx context.Context, t tile.Tensor, f func(i int) float64) error {
	return setPart(ctx, t, 0, t.Len(), f)
}

// setPart is setEach for the elements in [from, to).
func setPart(ctx context.Context, t tile.Tensor, from, to int, f func(i int) float64) error {
	const piece = 1 << 10 // even: no two workers have parts of one byte of int4
	first := from / piece
	return inStrips(ctx, (to+piece-1)/piece-first, piece, func(lo, hi int) {
		var values [piece]float64
		for p := first + lo; p < first+hi; p++ {
			at := max(from, p*piece)
			part := values[:min(to, (p+1)*piece)-at]
			for j := range part {
				part[j] = f(at + j)
			}
			t.SetAll(at, part)
		}
	})
}

// unit returns element i of a sequence in [0, 1), with 24 random bits, so that
// float32 holds it exactly.
func unit(start uint64, i int) float64 { return float64(mix(start+uint64(i))>>40) * 0x1p-24 }

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
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// The distributions of exact probes: small integers, so few to a sum that no partial sum is
// rounded, or one alone in a way that is known. Every right program gives the one answer that a
// Reference knows of each element. They are for verifying, not for measuring.
const (
	Exact       = "exact"        // for devices that add float32 as IEEE 754 has it
	ExactNarrow = "exact_narrow" // for others: float32 operands of 8 bits, no sum of float32 that is rounded
)

// IsExact reports whether a distribution is one of exact probes.
func IsExact(dist string) bool { return dist == Exact || dist == ExactNarrow }

// fillExact sets input array name of an exact probe of p.
func fillExact(ctx context.Context, t tile.Tensor, name string, p problem.Matmul, seed uint64, dist string) error {
	n := t.Len() / p.Batch
	for e := range p.Batch {
		x, err := newPattern(p, e, seed, dist)
		if err == nil {
			err = x.fill(ctx, t, e*n, name)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fill sets the elements of array name from at on.
func (x *pattern) fill(ctx context.Context, t tile.Tensor, at int, name string) error {
	p := x.p
	byRow := func(rows, cols int, f func(dst []float64, i int), put func(i int, row []float64)) error {
		some := func(lo, hi int) {
			row := make([]float64, cols)
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				f(row, i)
				put(i, row)
			}
		}
		if t.Dtype.Bits() < 8 { // neighbours share a byte
			some(0, rows)
			return ctx.Err()
		}
		return parallel(ctx, rows, some)
	}
	groupsB := operandCodes("b", p, x.scheme)
	switch name {
	case "a":
		return byRow(p.M, p.K, func(dst []float64, i int) {
			x.rowOfA(dst, i)
			for k := range dst {
				if x.scheme.Dynamic {
					dst[k] *= x.scaleA(i) * x.groupA(k)
				}
				dst[k] += x.zeroA()
			}
		}, func(i int, row []float64) { t.SetAll(at+i*p.K, row) })
	case "b":
		return byRow(p.K, p.N, func(dst []float64, k int) {
			x.rowOfB(dst, k, 0)
			if x.scheme.ZeroB {
				for j := range dst {
					dst[j] += x.zeroB(k, j)
				}
			}
		}, func(k int, row []float64) {
			if !p.TransB {
				t.SetAll(at+k*p.N, row)
				return
			}
			for j, v := range row {
				t.Set(at+j*p.K+k, v)
			}
		})
	case "bias":
		for j := range p.N {
			t.Set(at+j, x.bias(j))
		}
	case "ta", "tb":
		t.Set(at, 2)
	case "sa", "za":
		shape := operandCodes("a", p, x.scheme).Shape(p.M, p.K)
		for i := range int(tile.Elements(shape)) {
			if name == "sa" {
				t.Set(at+i, x.scaleA(i/shape[1])*x.groupA(i%shape[1]*x.scheme.Block))
			} else {
				t.Set(at+i, x.zeroA())
			}
		}
	case "sb", "zb":
		for k := 0; k < p.K; k += max(1, groupStep(x.scheme, p.K)) {
			for j := range p.N {
				g := groupsB.Group(k, j, p.N)
				if name == "sb" {
					t.Set(at+g, x.scaleB(k, j))
				} else {
					t.Set(at+g, x.zeroB(k, j))
				}
			}
		}
	default:
		return fmt.Errorf("check: no input %q in an exact probe", name)
	}
	return ctx.Err()
}

// groupStep is how many elements of a column of b share a scale.
func groupStep(s problem.Scheme, k int) int {
	if s.B == problem.Block {
		return s.Block
	}
	return k
}
