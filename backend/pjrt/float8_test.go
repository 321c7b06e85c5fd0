package pjrt

import (
	"math"
	"math/rand/v2"
	"testing"

	"matladder/chips"
	"matladder/problem"
	"matladder/tile"
)

// shorten leaves 14 bits of a sum whose largest part is of a size.
func shorten(x, size float64) float64 {
	if size == 0 {
		return x
	}
	_, e := math.Frexp(size)
	unit := math.Ldexp(1, e-14)
	return math.Trunc(x/unit) * unit
}

// narrowSum adds products as tensor cores add those of float8, in steps of 32; after so
// many steps the sum goes to float32, 0 for never.
func narrowSum(products []float64, steps int) float64 {
	wide, acc := float32(0), 0.
	for i := 0; i < len(products); i += 32 {
		some := products[i:min(i+32, len(products))]
		size := math.Abs(acc)
		for _, x := range some {
			size = max(size, math.Abs(x))
		}
		sum := shorten(acc, size)
		for _, x := range some {
			sum += shorten(x, size)
		}
		acc = shorten(sum, math.Abs(sum))
		if steps > 0 && (i/32+1)%steps == 0 {
			wide, acc = wide+float32(acc), 0
		}
	}
	return float64(wide) + acc
}

// TestProductRoundoff_Float8: sums of 14 bits are within what is allowed, and off by more
// than sums of float32 would be.
func TestProductRoundoff_Float8(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, precision := range []tile.Precision{tile.Default, tile.Highest} {
		steps := 0
		if precision == tile.Highest {
			steps = 4
		}
		worst := 0.
		for _, k := range []int{64, 1024, 4096, 16384} {
			p := problem.New(64, k, 64, tile.Float8E4M3FN)
			p.Precision = precision
			allowed := productRoundoff(chips.GPU, p)
			if allowed == 0 || productRoundoff(chips.TPU, p) != 0 {
				t.Fatalf("%v", allowed)
			}
			for _, low := range []float64{-1, 0} { // terms of any sign, and all of one
				products := make([]float64, k)
				for range 50 {
					sum, size := 0., 0.
					for i := range products {
						a := tile.Float8E4M3FN.Round(low + (1-low)*rng.Float64())
						b := tile.Float8E4M3FN.Round(low + (1-low)*rng.Float64())
						products[i] = a * b
						sum, size = sum+a*b, size+math.Abs(a*b)
					}
					off := math.Abs(narrowSum(products, steps)-sum) / size
					worst = max(worst, off)
					if low < 0 && off > allowed || low == 0 && k <= 1024 && off > 8*allowed {
						t.Errorf("%v: %d terms are off by %.2g of their sum, allowed %.2g", precision, k, off, allowed)
					}
				}
			}
		}
		if worst < 0x1p-20 {
			t.Errorf("%v: off by %g at most", precision, worst)
		}
	}
	mixed := problem.New(64, 64, 64, tile.BFloat16)
	mixed.B = tile.Float8E4M3FN
	if productRoundoff(chips.GPU, mixed) != 0 {
		t.Error("weights of float8 are widened, and multiplied exactly")
	}
}
