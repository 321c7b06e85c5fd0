package pjrt

import (
	"math"
	"math/rand/v2"
	"testing"

	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// term is one that tensor cores add: a product is that of two significands, of 1 to 2 each,
// and is not normalized.
type term struct {
	value float64
	exp   int
}

func exponent(x float64) int {
	if x == 0 {
		return -126
	}
	_, e := math.Frexp(x)
	return e - 1
}

// chopped cuts off what of x is more than 13 bits below 2^exp.
func chopped(x float64, exp int) float64 {
	unit := math.Ldexp(1, exp-13)
	return math.Trunc(x/unit) * unit
}

// narrowSum adds products as tensor cores add those of float8, so many in a step, as
// MMA-Sim (arXiv 2511.10909) describes it; after so many products the sum goes to float32,
// 0 for never.
func narrowSum(products []term, step, promoted int) float64 {
	wide, acc := float32(0), 0.
	for i := 0; i < len(products); i += step {
		some := products[i:min(i+step, len(products))]
		top := exponent(acc)
		for _, x := range some {
			top = max(top, x.exp)
		}
		sum := chopped(acc, top)
		for _, x := range some {
			sum += chopped(x.value, top)
		}
		acc = chopped(sum, exponent(sum))
		if promoted > 0 && (i+step)%promoted == 0 {
			wide, acc = wide+float32(acc), 0
		}
	}
	return float64(wide) + acc
}

// TestProductRoundoff_Float8: what tensor cores of Hopper and of Ada lose is within what is
// allowed; that is not many times more, up to the k of most products.
func TestProductRoundoff_Float8(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draws := []func() float64{
		func() float64 { return 2*rng.Float64() - 1 }, // uniform
		func() float64 { return rng.NormFloat64() / 4 },
	}
	for _, precision := range []tile.Precision{tile.Default, tile.Highest} {
		for _, k := range []int{32, 64, 128, 1024, 4096, 16384, 65536} {
			p := problem.New(64, k, 64, tile.Float8E4M3FN)
			p.Precision = precision
			allowed := productRoundoff(machine.GPU, p)
			if allowed == 0 || productRoundoff(machine.TPU, p) != 0 {
				t.Fatalf("%v", allowed)
			}
			worst := 0.
			products := make([]term, k)
			for range max(8, min(1000, 1<<19/k)) {
				for n, draw := range draws {
					sum, size := 0., 0.
					for i := range products {
						a, b := tile.Float8E4M3FN.Round(draw()), tile.Float8E4M3FN.Round(draw())
						products[i] = term{a * b, max(exponent(a), -6) + max(exponent(b), -6)}
						sum, size = sum+a*b, size+math.Abs(a*b)
					}
					for _, step := range []int{16, 32} {
						promoted := 0
						if precision == tile.Highest {
							promoted = 128
						}
						off := math.Abs(narrowSum(products, step, promoted)-sum) / size
						if worst = max(worst, off); off > allowed {
							t.Errorf("%v, draw %d: %d terms, %d at a time, are off by %.2g of their sum, allowed %.2g", precision, n, k, step, off, allowed)
						}
					}
				}
			}
			t.Logf("%v k=%d: off by %.3g at most, allowed %.3g, %.1f times that", precision, k, worst, allowed, allowed/worst)
			if worst < 0x1p-23 || precision == tile.Default && k <= 4096 && allowed > 20*worst {
				t.Errorf("%v: of %d terms off by %g at most, allowed %g", precision, k, worst, allowed)
			}
		}
	}
	mixed := problem.New(64, 64, 64, tile.BFloat16)
	mixed.B = tile.Float8E4M3FN
	if productRoundoff(machine.GPU, mixed) != 0 {
		t.Error("weights of float8 are widened, and multiplied exactly")
	}
}
