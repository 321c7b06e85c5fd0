package cpu

import (
	"math"
	"sync"
)

// piecewise is a function as cubics that meet its values and slopes at equal
// steps: what an activation of a whole output needs, at a fraction of the time of
// package math. Beyond its range, and for NaN, the function itself is asked.
type piecewise struct {
	lo, hi, perStep float64
	cubics          [][4]float64 // of the distance from the step's beginning, in steps
	f               func(float64) float64
}

// newPiecewise cuts lo … hi into n steps.
func newPiecewise(f, slope func(float64) float64, lo, hi float64, n int) *piecewise {
	p := &piecewise{lo: lo, hi: hi, perStep: float64(n) / (hi - lo), cubics: make([][4]float64, n), f: f}
	for i := range p.cubics {
		a, b := lo+float64(i)/p.perStep, lo+float64(i+1)/p.perStep
		fa, fb, da, db := f(a), f(b), slope(a)/p.perStep, slope(b)/p.perStep
		p.cubics[i] = [4]float64{fa, da, 3*(fb-fa) - 2*da - db, 2*(fa-fb) + da + db}
	}
	return p
}

func (p *piecewise) at(x float64) float64 {
	if !(x >= p.lo && x < p.hi) {
		return p.f(x)
	}
	t := (x - p.lo) * p.perStep
	i := int(t)
	c := &p.cubics[min(i, len(p.cubics)-1)]
	t -= float64(i)
	return c[0] + t*(c[1]+t*(c[2]+t*c[3]))
}

// The tables are made when first needed: 16 and 32 KiB, with errors of at most
// 2^-28 of 1 and of the value: float32 has 2^-25.
var (
	erf = sync.OnceValue(func() *piecewise {
		// Beyond 4 it is 1 to float32.
		f := func(x float64) float64 {
			if math.Abs(x) > 4 {
				return math.Copysign(1, x)
			}
			return math.Erf(x)
		}
		return newPiecewise(f, func(x float64) float64 { return 2 / math.SqrtPi * math.Exp(-x*x) }, -4, 4, 512)
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

// logisticTo is through of 1 / (1 + e^-x).
func logisticTo(o, x []float32) {
	p := logistic()
	for i := range o {
		o[i] = float32(p.at(float64(x[i])))
	}
}

// erfTo is through of the error function, near 0 by the first two terms of its
// series: there a table keeps no more than an absolute error small.
func erfTo(o, x []float32) {
	p := erf()
	for i := range o {
		v := float64(x[i])
		if v > -0x1p-10 && v < 0x1p-10 {
			o[i] = float32(2 / math.SqrtPi * (v - v*v*v/3))
			continue
		}
		o[i] = float32(p.at(v))
	}
}
