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
// A sum of k products rounded in the accumulator is off by at most k·u·Σ|a·b|;
// for roundings that are independent with mean zero, √k takes the place of k up
// to a small factor (Higham and Mary, "A New Approach to Probabilistic Rounding
// Error Analysis", 2019). The smaller of the two is used. A sum that is rounded
// to the output's dtype several times adds u·|partial sum| each time, and the
// same choice applies.
type bound struct {
	exact    bool    // integers: no error at all
	acc      float64 // relative to Σ|a·b|: roundings of the accumulator
	rms      float64 // relative to ‖a‖·‖b‖: the same, as noise
	out      float64 // unit roundoff of the output's dtype
	roundSum float64 // number of roundings to the output's dtype
	epilogue float64 // relative to the result: scales and activation
	slope    float64 // how much the activation can stretch an error
	absolute float64 // below this everything may be flushed to zero
	k        float64
}

func newBound(p problem.Matmul, step int) bound {
	k := float64(p.K)
	b := bound{
		exact:    p.Out.IsInteger(),
		out:      p.Out.Epsilon(),
		roundSum: float64(tile.Ceil(p.K, step)),
		slope:    1,
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
	if p.Activation != problem.NoActivation {
		b.slope = 1.13 // gelu's steepest slope; silu's is 1.10
		b.epilogue += 8 * tile.Float32.Epsilon()
	}
	return b
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

// element bounds the error of one element: want its value, sumAbs Σ|a·b|, cuts
// and cuts2 the 1- and 2-norm of the partial sums that were rounded, shift the
// magnitude of the bias.
func (b bound) element(want, sumAbs, cuts, cuts2, shift float64) float64 {
	if b.exact {
		return 0
	}
	rounded := b.out * (min(cuts, sigmas*cuts2) + shift)
	// The rounded sums contain the earlier errors too: a second-order term.
	first := b.acc*sumAbs + rounded + b.epilogue*(math.Abs(want)+shift)
	return first*(1+b.roundSum*b.out)*b.slope + b.absolute
}

// combination bounds the error of a ±1 combination of n elements of a row, norm
// being ‖a_i‖·‖b‖ and shift the norm of the bias. Partial sums of independent inputs with mean zero are about
// ‖a_i‖·‖b_j‖/√k, and errors of random sign add up like noise.
func (b bound) combination(n int, norm, shift float64) float64 {
	if b.exact {
		return 0
	}
	relative := b.rms + (math.Sqrt(b.roundSum)*b.out+b.epilogue)/math.Sqrt(b.k)
	return sigmas*(relative*norm+(b.out+b.epilogue)*shift) + b.absolute*math.Sqrt(float64(n))
}
