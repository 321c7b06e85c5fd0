package problem

import (
	"fmt"
	"math"

	"matladder/tile"
)

// Scheme is p's quantization with what p.Quant leaves to the dtypes filled in,
// or why the two do not go together.
func (p Matmul) Scheme() (Scheme, error) {
	s, err := p.Quant.Scheme()
	if err != nil || s.B == NoGrain {
		return s, err
	}
	refuse := func(format string, args ...any) (Scheme, error) {
		return Scheme{}, fmt.Errorf("quantization %s: %s", p.Quant, fmt.Sprintf(format, args...))
	}
	switch narrow := isNarrow(p.A); {
	case !isNarrow(p.B):
		return refuse("b is %s: it quantizes int8, int4, float8 and float4 operands", p.B)
	case !narrow && p.A != tile.Float32 && !isHalf(p.A):
		return refuse("a is %s: it takes float32, bfloat16, float16, and what it quantizes", p.A)
	case p.Out.Bits() < 16 || p.Out.IsInteger():
		return refuse("scales lead to a float32 or bfloat16 output, not %s", p.Out)
	case s.Dynamic && narrow:
		return refuse("a is %s already; dynamic quantization takes float32 or bfloat16", p.A)
	case s.A != NoGrain && !s.Dynamic && !narrow:
		return refuse("a is %s, which has no scales (dynamic_%s quantizes it)", p.A, s.A)
	case s.A == TokenBlock && s.B != Block:
		return refuse("%s shares the groups of k of b's scales, and needs per_block128 or its like", s.A)
	case s.Scales != tile.Float32 && s.B != Block:
		return refuse("scales of groups of k need per_block32 or its like")
	case s.Scales != tile.Float32 && s.A != NoGrain && s.A != TokenBlock:
		return refuse("scales of a's groups need token_block or dynamic_token_block")
	case s.Scales != tile.Float32 && narrow && s.A == NoGrain:
		return refuse("a is %s, and its groups have no scales: add token_block", p.A)
	case s.Dynamic && s.TwoLevels():
		return refuse("the scale of all of a is not made inside the launch")
	case s.Scales != tile.Float32 && (s.ZeroA || s.ZeroB):
		return refuse("zero points need scales in float32")
	case s.A == NoGrain && narrow:
		s.A = Tensor
	}
	a, b := p.factors(s)
	switch {
	case s.ZeroA && s.A == NoGrain:
		return refuse("a is %s, which has no zero point", p.A)
	case s.ZeroA && !a.IsInteger(), s.ZeroB && !p.B.IsInteger():
		return refuse("zero points need an integer dtype, not %s by %s", a, b)
	case s.ZeroA && s.B == Block:
		return refuse("zero points of a need one scale for a whole column of b")
	}
	if !a.IsInteger() || !b.IsInteger() {
		return s, nil
	}
	summed := p.K
	if s.B == Block {
		summed = min(summed, s.Block)
	}
	if most := math.MaxInt32 / (reach(a, s.ZeroA) * reach(b, s.ZeroB)); summed > most {
		return refuse("k = %d: int32 holds sums of at most %d such products", p.K, most)
	}
	return s, nil
}

// reach is the largest magnitude of a code of d, or of its difference from a zero point.
func reach(d tile.Dtype, zero bool) int {
	lo, hi := d.Range()
	if zero {
		return int(hi - lo)
	}
	return int(-lo)
}

func isNarrow(d tile.Dtype) bool {
	switch d {
	case tile.Int8, tile.Int4, tile.Float8E4M3FN, tile.Float8E5M2, tile.Float4E2M1FN:
		return true
	}
	return false
}

func isHalf(d tile.Dtype) bool { return d == tile.BFloat16 || d == tile.Float16 }

// Factors are the dtypes of the numbers that are multiplied: those of a and b
// but where a is quantized on the way, to b's dtype (int8 for int4, float8_e4m3fn for float4), or b is
// widened to an a that has no scales.
func (p Matmul) Factors() (a, b tile.Dtype) {
	s, err := p.Quant.Scheme()
	if err != nil {
		return p.A, p.B
	}
	return p.factors(s)
}

func (p Matmul) factors(s Scheme) (a, b tile.Dtype) {
	switch {
	case s.B == NoGrain:
		return p.A, p.B
	case s.Dynamic && p.B == tile.Int4:
		return tile.Int8, p.B
	case s.Dynamic && p.B == tile.Float4E2M1FN:
		return tile.Float8E4M3FN, p.B
	case s.Dynamic:
		return p.B, p.B
	case !isNarrow(p.A):
		return p.A, p.A
	}
	return p.A, p.B
}

// scaleBytes are those of the scales and zero points that come with a and b of one product.
func (p Matmul) scaleBytes() int64 {
	s, err := p.Scheme()
	if err != nil {
		return 0
	}
	bytes := func(g Grain, zero bool) int64 {
		n := int64(map[Grain]int{Tensor: 1, Token: p.M, TokenBlock: p.M * p.Groups(s), Channel: p.N, Block: p.N * p.Groups(s)}[g])
		all := tile.Float32.Bytes(n)
		switch {
		case zero:
			return 2 * all
		case g >= Block && s.TwoLevels():
			return s.Scales.Bytes(n) + tile.Float32.Bytes(1)
		case g >= Block:
			return s.Scales.Bytes(n)
		}
		return all
	}
	all := bytes(s.B, s.ZeroB)
	if !s.Dynamic { // else they are made inside the launch
		all += bytes(s.A, s.ZeroA)
	}
	return all
}

// Groups is how many scales of b one column has; 1 but for Block.
func (p Matmul) Groups(s Scheme) int {
	if s.B != Block {
		return 1
	}
	return tile.Ceil(p.K, s.Block)
}
