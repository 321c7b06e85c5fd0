package epilogue

import (
	"math"
	"sync"

	"matladder/backend/cpu/internal/rows"
)

// piecewise is a function as cubics that meet its values and slopes at equal
// steps: what an activation of a whole output needs, at a fraction of the time of
// package math. Of numbers that they do not cover the function itself is asked.
type piecewise struct {
	rows.Cubics
	f func(float64) float64
}

// newPiecewise cuts lo … hi into n steps; from hi on the function is constant.
func newPiecewise(f, slope func(float64) float64, lo, hi float64, n int) *piecewise {
	perStep := float64(n) / (hi - lo)
	p := &piecewise{rows.Cubics{
		Table: make([][4]float64, n), Lo: lo, PerStep: perStep,
		Last:  hi - 0x1p-20/perStep, // rounding keeps it below hi
		Floor: lo,
	}, f}
	for i := range p.Table {
		a, b := lo+float64(i)/perStep, lo+float64(i+1)/perStep
		fa, fb, da, db := f(a), f(b), slope(a)/perStep, slope(b)/perStep
		p.Table[i] = [4]float64{fa, da, 3*(fb-fa) - 2*da - db, 2*(fa-fb) + da + db}
	}
	return p
}

// to returns what computes the function of a row.
func (p *piecewise) to(l *rows.Loops) func(o, x []float32) {
	return func(o, x []float32) {
		for {
			n := l.Cubics(o, x, &p.Cubics)
			if n == len(o) {
				return
			}
			o[n] = float32(p.f(float64(x[n])))
			o, x = o[n+1:], x[n+1:]
		}
	}
}

// The tables are made when first needed: 16 and 32 KiB, with errors of at most
// 2^-28 of 1 and of the value: float32 has 2^-25.
var (
	erf = sync.OnceValue(func() *piecewise {
		const least = 0x1p-10
		f := func(x float64) float64 {
			switch {
			case math.Abs(x) > 4: // 1 to float32
				return math.Copysign(1, x)
			case math.Abs(x) < least: // where a table keeps no more than an absolute error small
				return 2 / math.SqrtPi * (x - x*x*x/3)
			}
			return math.Erf(x)
		}
		p := newPiecewise(f, func(x float64) float64 { return 2 / math.SqrtPi * math.Exp(-x*x) }, -4, 4, 512)
		p.Floor, p.Least = math.Inf(-1), least
		return p
	})
	logistic = sync.OnceValue(func() *piecewise {
		// Beyond 32 it is 1, and e^x below.
		f := func(x float64) float64 {
			if x > 32 {
				return 1
			}
			return 1 / (1 + math.Exp(-x))
		}
		return newPiecewise(f, func(x float64) float64 { y := f(x); return y * (1 - y) }, -32, 32, 1024)
	})
)
