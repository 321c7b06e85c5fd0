package vexp

// The routines below do n elements, a positive multiple of 16 (exp) or 32 (sums, the largest).

//go:noescape
func expAVX2(dst, x *float32, less float32, n int)

//go:noescape
func exp2AVX2(dst, x *float32, less float32, n int)

//go:noescape
func sumAVX2(sums, x *float32, n int)

//go:noescape
func squaresAVX2(sums, x *float32, less float32, n int)

//go:noescape
func squaresAVX512(sums, x *float32, less float32, n int)

//go:noescape
func expAVX512(dst, x *float32, less float32, n int)

//go:noescape
func exp2AVX512(dst, x *float32, less float32, n int)

//go:noescape
func sumAVX512(sums, x *float32, n int)

// wholeSumAVX512 is Sum of as many elements.
//
//go:noescape
func wholeSumAVX512(x *float32, n int) float32

// unordered is not 0 if x has a NaN; then top is no matter, and where it is 0 its sign is
// none.
//
//go:noescape
func largestAVX2(x *float32, n int) (top float32, unordered uint32)

//go:noescape
func largestAVX512(x *float32, n int) (top float32, unordered uint32)

// For returns the fastest loops; avx2 says that the processor has AVX2 and FMA,
// avx512 that it has AVX-512 F.
func For(avx2, avx512 bool) Loops {
	switch {
	case avx512:
		return Loops{Exp: whole(expAVX512), Exp2: whole(exp2AVX512), Sum: summedWhole(wholeSumAVX512, summed(sumAVX512)), Squares: squared(squaresAVX512), Largest: largest(largestAVX512)}
	case avx2:
		return Loops{Exp: whole(expAVX2), Exp2: whole(exp2AVX2), Sum: summed(sumAVX2), Squares: squared(squaresAVX2), Largest: largest(largestAVX2)}
	}
	return Generic
}

// whole does the last few elements, fewer than a whole step, in a buffer.
func whole(fast func(dst, x *float32, less float32, n int)) func(dst, x []float32, less float32) {
	const step = 16
	return func(dst, x []float32, less float32) {
		x = x[:len(dst)]
		n := len(dst) &^ (step - 1)
		if n > 0 {
			fast(&dst[0], &x[0], less, n)
		}
		if n < len(dst) {
			var rest [step]float32
			copy(rest[:], x[n:])
			fast(&rest[0], &rest[0], less, step)
			copy(dst[n:], rest[:])
		}
	}
}

func summed(fast func(sums, x *float32, n int)) func(x []float32) float32 {
	return func(x []float32) float32 {
		var sums [sumLanes]float32
		n := len(x) &^ (sumLanes - 1)
		if n > 0 {
			fast(&sums[0], &x[0], n)
		}
		return finish(&sums, x[n:])
	}
}

func squared(fast func(sums, x *float32, less float32, n int)) func(x []float32, less float32) float32 {
	return func(x []float32, less float32) float32 {
		var sums [sumLanes]float32
		n := len(x) &^ (sumLanes - 1)
		if n > 0 {
			fast(&sums[0], &x[0], less, n)
		}
		return finishSquares(&sums, x[n:], less)
	}
}

// summedWhole is fast for whole steps, else with a rest.
func summedWhole(fast func(x *float32, n int) float32, rest func(x []float32) float32) func(x []float32) float32 {
	return func(x []float32) float32 {
		if len(x) == 0 || len(x)%sumLanes != 0 {
			return rest(x)
		}
		return fast(&x[0], len(x))
	}
}

func largest(fast func(x *float32, n int) (top float32, unordered uint32)) func(x []float32) float32 {
	return func(x []float32) float32 {
		n := len(x) &^ (sumLanes - 1)
		if n == 0 {
			return Generic.Largest(x)
		}
		top, unordered := fast(&x[0], n)
		if unordered != 0 || top == 0 {
			return Generic.Largest(x)
		}
		if n < len(x) {
			return max(top, Generic.Largest(x[n:]))
		}
		return top
	}
}
