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
	whole     bool    // integers alone
	digits    int     // of the significand
	low, high int     // exponents of normal powers of two
	most      float64 // the largest number
}

func limitsOf(d tile.Dtype) limits {
	_, most := d.Range()
	_, high := math.Frexp(most)
	l := limits{whole: d.IsInteger(), digits: high, high: high - 1, most: most}
	if !l.whole {
		_, low := math.Frexp(d.SmallestNormal())
		_, epsilon := math.Frexp(d.Epsilon())
		l.low, l.digits = low-1, 1-epsilon
	}
	return l
}

// prober probes one product.
type prober struct {
	p         problem.Matmul
	multiply  Multiply
	a, b, out limits
	top, low  int // exponents: of M, and of the smallest product that is used
	widest    int // bits that a sum can be seen to keep
	each      int // units in one column: as many as M loses together, and as a narrow sum counts
	found     Accumulator
}

// A term is the product k of a sum: c·2^e.
type term struct {
	k int
	c float64
	e int
}

func newProber(p problem.Matmul, multiply Multiply) (*prober, error) {
	a, b := p.Factors()
	x := &prober{p: p, multiply: multiply, a: limitsOf(a), b: limitsOf(b), out: limitsOf(p.Out)}
	switch scheme, err := p.Scheme(); {
	case err != nil:
		return x, err
	case p.Batch != 1 || p.Activation != "" || p.TransB || scheme.Dynamic:
		return x, fmt.Errorf("%s: accumulators are found of one product, without activation or quantization of a in the launch", p)
	case p.K < 4:
		return x, fmt.Errorf("k = %d: at least 4 products to a sum are needed", p.K)
	case p.K > MaxK && !(x.a.whole && x.b.whole):
		return x, fmt.Errorf("k = %d: an order of at most %d products is looked for", p.K, MaxK)
	}
	// Half the range of float32: sums of M and −M do not overflow.
	x.a.high, x.b.high = min(x.a.high, 50), min(x.b.high, 50)
	x.top = x.a.high + x.b.high
	x.low = max(x.a.low+x.b.low, x.out.low-x.out.digits+1, x.top-100)
	x.widest = min(x.top-x.low+1, 60)
	x.each = 1 << max(0, min(6, x.out.digits, x.top-x.low-25))
	return x, nil
}

// factors are c·2^e as a product of what a and b hold.
func (x *prober) factors(c float64, e int) (a, b float64) {
	of := max(x.b.low, e-x.a.high, min(e/2, x.b.high))
	return math.Ldexp(c, e-of), math.Ldexp(1, of)
}

// row returns the first row of a product. All rows of a are alike, and so are the columns of b,
// but that product k is 0 in column j unless in is nil or in(k, j).
func (x *prober) row(a, b []float64, in func(k, j int) bool) ([]float64, error) {
	m, n := x.p.M, x.p.N
	full := make([]float64, x.p.K*n)
	for k, v := range b {
		for j := range n {
			if v != 0 && (in == nil || in(k, j)) {
				full[k*n+j] = v
			}
		}
	}
	o, err := x.multiply(slices.Repeat(a, m), full)
	if err != nil {
		return nil, err
	}
	for i, v := range o {
		if x.found.Unlike == nil && (v != o[i%n] || in == nil && v != o[0]) {
			x.found.Unlike = []int{i / n, i % n}
		}
	}
	return o[:n], nil
}

// sum returns the sum of a[k]·b[k], the first element of a product of which all are the same.
func (x *prober) sum(at func(k int) (a, b float64)) (float64, error) {
	a, b := make([]float64, x.p.K), make([]float64, x.p.K)
	for k := range a {
		a[k], b[k] = at(k)
	}
	row, err := x.row(a, b, nil)
	if err != nil {
		return 0, err
	}
	return row[0], nil
}

// terms sums these, and zeros.
func (x *prober) terms(list ...term) (float64, error) {
	return x.sum(func(k int) (a, b float64) {
		for _, t := range list {
			if t.k == k {
				return x.factors(t.c, t.e)
			}
		}
		return 0, 0
	})
}

// lost returns how many of the units at all other products are lost beside M at i and −M at j,
// those two included: the size of the smallest partial sum that has both.
func (x *prober) lost(i, j int) (int, error) {
	a, b, left := make([]float64, x.p.K), make([]float64, x.p.K), 0
	unit, by := x.factors(1, x.low)
	for k := range a {
		a[k], b[k] = unit, by
	}
	a[i], b[i] = x.factors(1, x.top)
	a[j], b[j] = -a[i], b[i]
	for from := 0; from < x.p.K; from += x.each * x.p.N {
		row, err := x.row(a, b, func(k, col int) bool {
			return k == i || k == j || k >= from && (k-from)/x.each == col
		})
		if err != nil {
			return 0, err
		}
		for _, v := range row {
			switch n := math.Ldexp(v, -x.low); {
			case n-n != 0:
				return 0, &noOrder{fmt.Sprintf("not visible: M − M + 1 is %v", v)}
			case n >= 0 && n <= float64(x.each) && n == math.Trunc(n):
				left += int(n)
			case x.each > 1: // a unit that is lost beside −M can move it, to which further ones are lost
				x.each = 1
				return x.lost(i, j)
			}
		}
	}
	return x.p.K - left, nil
}

// A noOrder says why no order of additions is found.
type noOrder struct{ reason string }

func (e *noOrder) Error() string { return e.reason }
