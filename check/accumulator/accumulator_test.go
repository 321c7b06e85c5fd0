package accumulator

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/tile"
)

// made is a product of a made-up machine: sum adds the products of one element.
func made(p problem.Matmul, sum func(products []float64) float64) func(a, b []float64) ([]float64, error) {
	return func(a, b []float64) ([]float64, error) {
		for _, x := range append(b, a...) {
			if p.A.Round(x) != x {
				return nil, fmt.Errorf("%v is no %s", x, p.A)
			}
		}
		o, products := make([]float64, p.M*p.N), make([]float64, p.K)
		for i := range p.M {
			for j := range p.N {
				for k := range p.K {
					products[k] = a[i*p.K+k] * b[k*p.N+j]
				}
				o[i*p.N+j] = p.Out.Round(sum(products))
			}
		}
		return o, nil
	}
}

func f32(x float64) float64 { return float64(float32(x)) }

// keep rounds to digits by a way to round to whole numbers.
func keep(digits int, whole func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
			return x
		}
		_, e := math.Frexp(x)
		return math.Ldexp(whole(math.Ldexp(x, digits-e)), e-digits)
	}
}

// sequential adds one after another.
func sequential(round func(float64) float64) func([]float64) float64 {
	return func(list []float64) float64 {
		sum := 0.0
		for _, v := range list {
			sum = round(sum + v)
		}
		return sum
	}
}

func pairwise(list []float64) float64 {
	if len(list) == 1 {
		return list[0]
	}
	return f32(pairwise(list[:len(list)/2]) + pairwise(list[len(list)/2:]))
}

// inLanes adds product k to lane k mod n, and lanes pairwise.
func inLanes(n int) func([]float64) float64 {
	return func(list []float64) float64 {
		lanes := make([]float64, n)
		for k, v := range list {
			lanes[k%n] = f32(lanes[k%n] + v)
		}
		return pairwise(lanes)
	}
}

// inBlocks adds blocks of size by within, and their sums by round.
func inBlocks(size int, within func([]float64) float64, round func(float64) float64) func([]float64) float64 {
	return func(list []float64) float64 {
		sum := 0.0
		for k := 0; k < len(list); k += size {
			sum = round(sum + within(list[k:k+size]))
		}
		return sum
	}
}

// fused adds size products and the sum so far at once: all are cut to digits of the largest.
func fused(size, digits int) func([]float64) float64 {
	return func(list []float64) float64 {
		sum := 0.0
		for k := 0; k < len(list); k += size {
			terms := append([]float64{sum}, list[k:k+size]...)
			most := 0.0
			for _, v := range terms {
				most = max(most, math.Abs(v))
			}
			_, e := math.Frexp(most)
			sum = 0
			for _, v := range terms {
				sum += math.Ldexp(math.Trunc(math.Ldexp(v, digits-e)), e-digits)
			}
			sum = keep(digits, math.Trunc)(sum)
		}
		return sum
	}
}

func flushed(round func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x = round(x); math.Abs(x) < 0x1p-126 {
			return 0
		}
		return x
	}
}

// TestFind: made-up machines, each with k and lanes at random, are found to be what they are.
func TestFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kept := "operands kept, sums kept"
	bf16 := tile.BFloat16.Round
	cases := 10
	if thoroughtest.All() {
		cases = 100
	}
	for _, c := range []struct {
		name string
		p    string // operands, as of a sweep
		make func() (k int, sum func([]float64) float64, order string)
		want Accumulator
	}{
		{"sequential", "float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(f32), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 24, Rounding: "nearest even", Subnormals: kept}},
		{"backwards", "bfloat16", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, func(list []float64) float64 {
				sum := 0.0
				for i := range list {
					sum = f32(sum + list[len(list)-1-i])
				}
				return sum
			}, fmt.Sprintf("%d × product, from [%d %d %d %d]", k, k-1, k-2, k-3, k-4)
		}, Accumulator{Bits: 24, Rounding: "nearest even", Subnormals: kept}},
		{"pairwise", "float32", func() (int, func([]float64) float64, string) {
			order := "2 × product, sum of 2, sum of 4, sum of 8, sum of 16, "
			if rng.IntN(2) == 0 {
				return 32, pairwise, order + "from [0 1 2 4]"
			}
			return 64, pairwise, order + "sum of 32, from [0 1 2 4]"
		}, Accumulator{Bits: 24, Rounding: "nearest even", Subnormals: kept}},
		{"lanes", "bfloat16", func() (int, func([]float64) float64, string) {
			n, of := 4+4*rng.IntN(2), 5+rng.IntN(12)
			order := fmt.Sprintf("%d × product, sum of %d, sum of %d, ", of, of, 2*of)
			if n == 8 {
				order += fmt.Sprintf("sum of %d, ", 4*of)
			}
			order += fmt.Sprintf("from [0 %d %d %d]", n, 2*n, 3*n)
			return n * of, inLanes(n), order
		}, Accumulator{Bits: 24, Rounding: "nearest even", Subnormals: kept}},
		{"blocks stored in bfloat16", "bfloat16", func() (int, func([]float64) float64, string) {
			of := 3 + rng.IntN(6)
			return 12 * of, inBlocks(12, inLanes(4), bf16), fmt.Sprintf("3 × product, sum of 3, sum of 6, %d × sum of 12, from [0 4 8 1]", of-1)
		}, Accumulator{Bits: 8, Group: 12, GroupBits: 24, Rounding: "nearest even", Subnormals: kept}},
		{"bfloat16 sums", "bfloat16:float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(bf16), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 8, Rounding: "nearest even", Subnormals: kept}},
		{"float16 sums", "float16", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(tile.Float16.Round), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 11, Rounding: "nearest even", Subnormals: "operands kept"}},
		{"13 bits, fused", "float8_e4m3fn:bfloat16", func() (int, func([]float64) float64, string) {
			of := 3 + rng.IntN(4)
			return 16 * of, fused(16, 13), fmt.Sprintf("product, (15 × product at once), %d × (16 × product at once), from [0 1 16 32]", of-1)
		}, Accumulator{Bits: 13, Rounding: "toward zero", Subnormals: "operands kept"}},
		{"14 bits, one at a time", "float8_e5m2:float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(keep(14, math.Trunc)), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 14, Rounding: "toward zero", Subnormals: "operands kept"}},
		{"flush to zero", "float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(flushed(f32)), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 24, Rounding: "nearest even", Subnormals: "operands kept, sums flushed"}},
		{"down", "float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(keep(24, math.Floor)), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 24, Rounding: "down", Subnormals: kept}},
		{"ties away", "float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(keep(24, math.Round)), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 24, Rounding: "nearest, ties away", Subnormals: kept}},
		{"float64", "float32", func() (int, func([]float64) float64, string) {
			k := 36 + rng.IntN(60)
			return k, sequential(func(x float64) float64 { return x }), fmt.Sprintf("%d × product, from [0 1 2 3]", k)
		}, Accumulator{Bits: 53, Rounding: "nearest even", Subnormals: kept}},
		{"integers", "int8", func() (int, func([]float64) float64, string) {
			return 1100, sequential(func(x float64) float64 { return x }), "not visible in integers"
		}, Accumulator{Bits: 24, AtLeast: true, Rounding: "none", Subnormals: "none"}},
		{"integers in 16 bits", "int8", func() (int, func([]float64) float64, string) {
			return 64 + rng.IntN(64), sequential(func(x float64) float64 { return max(-1<<15, min(1<<15-1, x)) }), "not visible in integers"
		}, Accumulator{Bits: 15, Rounding: "unknown", Subnormals: "none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, err := problem.MatmulFamily.Parse(c.p)
			if err != nil {
				t.Fatal(err)
			}
			for range cases {
				k, sum, order := c.make()
				p := problem.MakeMatmul(problem.Sizes{1, k, 8, 1}, asked)
				got, err := Find(p, made(p, sum))
				if err != nil {
					t.Fatal(err)
				}
				want := c.want
				want.Order, want.Tree = order, got.Tree
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s:\n have %+v\n want %+v", p, got, want)
				}
			}
		})
	}
}

// TestFind_None: what no tree of additions explains is said to be so, and does not fail.
func TestFind_None(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, c := range map[string]struct {
		p, want string
		sum     func([]float64) float64
	}{
		"another order each time": {"float32", "no tree of additions", func(list []float64) float64 {
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return sequential(f32)(list)
		}},
		"exact": {"float32", "nothing is lost", func(list []float64) float64 {
			sum := new(big.Float).SetPrec(1000)
			for _, v := range list {
				sum.Add(sum, big.NewFloat(v))
			}
			v, _ := sum.Float64()
			return v
		}},
		"overflow": {"bfloat16", "no tree of additions", func(list []float64) float64 { return math.NaN() }},
	} {
		asked, err := problem.MatmulFamily.Parse(c.p)
		if err != nil {
			t.Fatal(err)
		}
		p := problem.MakeMatmul(problem.Sizes{2, 40, 8, 1}, asked)
		got, err := Find(p, made(p, c.sum))
		if err != nil || !strings.Contains(got.Order, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
