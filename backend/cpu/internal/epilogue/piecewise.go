package epilogue

import (
	"math"
	"sync"

	"matladder/backend/cpu/internal/rows"
)

// cubicsOf is a function as cubics that meet its values and slopes at equal steps, n of them
// from lo to hi: what an activation of a whole output needs, at a fraction of the time of
// package math. Beyond them the function is constant.
func cubicsOf(f, slope func(float64) float64, lo, hi float64, n int) *rows.Cubics {
	perStep := float64(n) / (hi - lo)
	p := &rows.Cubics{Table: make([][4]float64, n), Lo: lo, PerStep: perStep, Last: hi - 0x1p-20/perStep} // rounding keeps it below hi
	for i := range p.Table {
		a, b := lo+float64(i)/perStep, lo+float64(i+1)/perStep
		fa, fb, da, db := f(a), f(b), slope(a)/perStep, slope(b)/perStep
		p.Table[i] = [4]float64{fa, da, 3*(fb-fa) - 2*da - db, 2*(fa-fb) + da + db}
	}
	return p
}

// The tables are made when first needed: 81 and 68 KiB, of which each range of x meets its own
// part. Both go down to where a function is 0 to float32. Cubics are off by at most 2^-24 of the
// value, and by 2^-21 of Φ far out, where it bends most.
var (
	normalCDF = sync.OnceValue(func() *rows.Cubics {
		const lo, hi = -14.5, 5.75
		f := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		return cubicsOf(f, func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }, lo, hi, (hi-lo)*128)
	})
	logistic = sync.OnceValue(func() *rows.Cubics {
		const lo, hi = -104, 32
		f := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
		return cubicsOf(f, func(x float64) float64 { y := f(x); return y * (1 - y) }, lo, hi, (hi-lo)*16)
	})
)
