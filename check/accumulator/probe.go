package accumulator

import (
	"fmt"
	"math"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// limits are what a dtype holds.
type limits struct {
	whole             bool    // integers alone
	digits, low, high int     // of the significand; exponents of normal powers of two
	most              float64 // the largest number
}

func limitsOf(d tile.Dtype) limits {
	_, most := d.Range()
	_, high := math.Frexp(most)
	if d.IsInteger() {
		return limits{true, high, 0, high - 1, most}
	}
	_, low := math.Frexp(d.SmallestNormal())
	_, epsilon := math.Frexp(d.Epsilon())
	return limits{false, 1 - epsilon, low - 1, high - 1, most}
}

// prober probes one product. After an error all sums are 0.
type prober struct {
	p         problem.Matmul
	multiply  func(a, b []float64) ([]float64, error)
	a, b, out limits
	top, low  int // exponents of M, and of the unit
	widest    int // bits that a sum can be seen to keep
	each      int // units in one column: as many as M loses together, and as a narrow sum counts
	found     Accumulator
	err       error
}

// MaxK bounds k of sums whose order is looked for, which takes about k·log k products.
const MaxK = 2048

func newProber(p problem.Matmul, multiply func(a, b []float64) ([]float64, error)) (*prober, error) {
	x := &prober{p: p, multiply: multiply, a: limitsOf(p.A), b: limitsOf(p.B), out: limitsOf(p.Out)}
	switch scheme, err := p.Scheme(); {
	case err != nil:
		return nil, err
	case p.Batch != 1 || p.Activation != "" || p.TransB || scheme.Dynamic:
		return nil, fmt.Errorf("%s: accumulators are found of one product, without activation or quantization of a in the launch", p)
	case p.K < 4:
		return nil, fmt.Errorf("k = %d: at least 4 products to a sum are needed", p.K)
	case p.K > MaxK && !x.a.whole:
		return nil, fmt.Errorf("k = %d: an order of at most %d products is looked for", p.K, MaxK)
	}
	// Half the range of float32, and that of a and out where M still exceeds units enough: no sum overflows.
	x.a.high, x.b.high = min(x.a.high, 50), min(x.b.high, 50)
	x.top, x.low = x.a.high+x.b.high, max(x.a.low+x.b.low, x.out.low-x.out.digits+1)
	if top := min(x.a.high, x.out.high) - 1; top-x.low >= 32 {
		x.top = top
	}
	x.low = max(x.low, x.top-100)
	x.widest = min(x.top-x.low-1, 60)
	x.each = 1 << max(0, min(6, x.out.digits, x.top-x.low-25))
	return x, nil
}

// A term is the product k of a sum: c·2^e.
type term struct {
	k int
	c float64
	e int
}

// factors are what a and b hold of it.
func (x *prober) factors(t term) (a, b float64) {
	e := max(x.b.low, t.e-x.a.high, min(t.e/2, x.b.high))
	return math.Ldexp(t.c, t.e-e), math.Ldexp(1, e)
}

// row returns the first row of a product. All rows of a are alike, and so are the columns of b,
// but that product k is 0 in column j unless in is nil or in(k, j).
func (x *prober) row(a, b []float64, in func(k, j int) bool) []float64 {
	n := x.p.N
	full := make([]float64, x.p.K*n)
	for k, v := range b {
		for j := range n {
			if v != 0 && (in == nil || in(k, j)) {
				full[k*n+j] = v
			}
		}
	}
	var o []float64
	if x.err == nil {
		o, x.err = x.multiply(slices.Repeat(a, x.p.M), full)
	}
	if x.err != nil {
		return make([]float64, n)
	}
	for i, v := range o {
		x.found.Unlike = x.found.Unlike || v != o[i%n] || in == nil && v != o[0]
	}
	return o[:n]
}

// sum returns the sum of a·b of each product.
func (x *prober) sum(at func(k int) (a, b float64)) float64 {
	a, b := make([]float64, x.p.K), make([]float64, x.p.K)
	for k := range a {
		a[k], b[k] = at(k)
	}
	return x.row(a, b, nil)[0]
}

// terms sums these, and zeros.
func (x *prober) terms(list ...term) float64 {
	return x.sum(func(k int) (a, b float64) {
		if i := slices.IndexFunc(list, func(t term) bool { return t.k == k }); i >= 0 {
			return x.factors(list[i])
		}
		return 0, 0
	})
}

// lost returns how many of the units at all other products are lost beside M at i and −M at j,
// those two included: the size of the smallest partial sum that has both. 0 if there is none.
func (x *prober) lost(i, j int) int {
	a, b, size := make([]float64, x.p.K), make([]float64, x.p.K), x.p.K
	for k := range a {
		a[k], b[k] = x.factors(term{k, 1, x.low})
	}
	a[i], b[i] = x.factors(term{i, 1, x.top})
	a[j], b[j] = -a[i], b[i]
	for from := 0; from < x.p.K; from += x.each * x.p.N {
		for _, v := range x.row(a, b, func(k, col int) bool {
			return k == i || k == j || k >= from && (k-from)/x.each == col
		}) {
			switch n := math.Ldexp(v, -x.low); {
			case n-n != 0 || x.err != nil:
				return 0
			case n >= 0 && n <= float64(x.each) && n == math.Trunc(n):
				size -= int(n)
			case x.each > 1: // a unit that is lost beside −M can move it, to which further ones are lost
				x.each = 1
				return x.lost(i, j)
			}
		}
	}
	return size
}
