package check

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// sigmas is how many standard deviations of noise a bound allows where it
// treats roundings as independent: one element in 10^9 is beyond.
const sigmas = 6

// bound limits the rounding error of a program's output.
//
// A sum of k products rounded in the accumulator is off by at most k·u·Σ|a·b|; for roundings that
// are independent with mean zero, √k takes the place of k up to a small factor (Higham and Mary, "A
// New Approach to Probabilistic Rounding Error Analysis", 2019). The smaller of the two is used. A
// sum that is rounded to the output's dtype several times adds u·|partial sum| each time, and the
// same choice applies.
type bound struct {
	exact    bool    // integers: no error at all
	acc      float64 // relative to Σ|a·b|: roundings of the accumulator
	rms      float64 // relative to ‖a‖·‖b‖: the same, as noise
	out      float64 // unit roundoff of the output's dtype
	roundSum float64 // number of roundings to the output's dtype
	epilogue float64 // relative to the result: scales and bias
	absolute float64 // below this everything may be flushed to zero
	k        float64
}

func newBound(p problem.Matmul, step int) bound {
	k := float64(p.K)
	b := bound{
		exact:    p.Out.IsInteger(),
		out:      p.Out.Epsilon(),
		roundSum: float64(tile.Ceil(p.K, step)),
		absolute: (k + 2) * max(p.Out.SmallestNormal(), tile.Float32.SmallestNormal()),
		k:        k,
	}
	u := p.Acc.Epsilon() // 0 for int32: exact
	b.acc = min(k, sigmas*math.Sqrt(k)) * u
	b.rms = math.Sqrt(k) * u
	if p.Quant != problem.NoQuant {
		b.quantized(p)
	}
	if p.Bias {
		b.epilogue += tile.Float32.Epsilon()
	}
	return b
}

// activated bounds the error of y = f(x), f being an activation, where x is off by e: with the
// activation's own, and the rounding to a dtype. The own one is relative to y, and grows with
// the power of e that a small y is made of, as float32 rounds the power. Numbers that are not
// normal may be 0.
func activated(f func(float64) float64, x, e float64, d tile.Dtype) float64 {
	const roundings, ofPower = 16, 8
	y := math.Abs(f(x))
	own := 0.0
	if y > 0 {
		own = (roundings + ofPower*max(0, math.Log(math.Abs(x)/y))) * 0x1p-24 * y
	}
	own += steepest(f, x+e)*e + max(1, math.Abs(x))*tile.Float32.SmallestNormal()
	return own + d.Epsilon()*(y+own)
}

// steepest is the steepest slope of an activation up to x: everywhere that of gelu, 1.13. Far
// below zero all become flatter and flatter towards lesser numbers.
func steepest(f func(float64) float64, x float64) float64 {
	const flattening, step = -3, 1e-4
	if !(x < flattening) {
		return 1.13
	}
	return 1.01 * math.Abs(f(x+step)-f(x-step)) / (2 * step)
}

// quantized adds what scales cost.
func (b *bound) quantized(p problem.Matmul) {
	const u = 0x1p-24
	scheme, _ := p.Scheme() // Validate has seen it
	b.epilogue = 4 * u      // accumulator to float32, products with sb and the two parts of sa
	b.acc += b.k * 0x1p-52  // codes times scales, in float64
	if scheme.Dynamic {
		b.acc, b.rms = b.acc+2*u, b.rms+2*u // the scale itself
	}
	if scheme.B == problem.Block { // each group cast, scaled, and added to the others in float32
		groups := float64(p.Groups(scheme))
		b.acc += (min(groups, sigmas*math.Sqrt(groups)) + 3) * u
		b.rms += (math.Sqrt(groups) + 3) * u
		if scheme.A == problem.TokenBlock { // scaled twice
			b.acc, b.rms = b.acc+u, b.rms+u
		}
	}
	if scheme.ZeroB && !p.Acc.IsInteger() { // sums of rows, their product with zb, the difference
		b.acc = 2*b.acc + 3*u
		b.rms = 2*b.rms + 3*u
	}
}

// sum bounds the error of one sum before it is rounded to the output's dtype: want its value,
// sumAbs Σ|a·b|, shift the magnitude of the bias.
func (b bound) sum(want, sumAbs, shift float64) float64 {
	return b.acc*sumAbs + b.epilogue*(math.Abs(want)+shift)
}

// element bounds the error of one element without an activation: cuts and cuts2 are the 1- and
// 2-norm of the partial sums that were rounded.
func (b bound) element(want, sumAbs, cuts, cuts2, shift float64) float64 {
	if b.exact {
		return 0
	}
	rounded := b.out * (min(cuts, sigmas*cuts2) + shift)
	// The rounded sums contain the earlier errors too: a second-order term.
	return (b.sum(want, sumAbs, shift)+rounded)*(1+b.roundSum*b.out) + b.absolute
}

// combination bounds the error of a ±1 combination of n elements of a row, norm
// being ‖a_i‖·‖b‖ and shift the norm of the bias. Partial sums of independent inputs with mean zero are about
// ‖a_i‖·‖b_j‖/√k, and errors of random sign add up like noise. Those of constant inputs are
// about ‖a_i‖·‖b_j‖, and all errors of a row are alike.
func (b bound) combination(n int, norm, shift float64, constant bool) float64 {
	if b.exact {
		return 0
	}
	relative := b.rms + (math.Sqrt(b.roundSum)*b.out+b.epilogue)/math.Sqrt(b.k)
	if constant {
		relative = b.acc + b.roundSum*b.out + b.epilogue
	}
	return sigmas*(relative*norm+(b.out+b.epilogue)*shift) + b.absolute*math.Sqrt(float64(n))
}

// ProductsOff tells the reference that a device multiplies floats less exactly than their dtype:
// each product is off by up to roundoff times itself before it is added. 0, the default, is for
// products that are as exact as the accumulator. Bounds of later calls of Verify count it.
func (r *Reference) ProductsOff(roundoff float64) {
	r.products = roundoff
	for _, part := range r.parts {
		part.ProductsOff(roundoff)
	}
}

// multiplied adds the error of products to a bound. In a combination they are noise:
// k of them, of about the same size.
func (b bound) multiplied(roundoff float64) bound {
	if !b.exact {
		b.acc += roundoff
		b.rms += roundoff / math.Sqrt(b.k)
	}
	return b
}
