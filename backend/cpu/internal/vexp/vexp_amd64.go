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
func sumBFloat16AVX2(sums *float32, x *uint16, n int)

//go:noescape
func sumBFloat16AVX512(sums *float32, x *uint16, n int)

//go:noescape
func squaresBFloat16AVX2(sums *float32, x *uint16, less float32, n int)

//go:noescape
func squaresBFloat16AVX512(sums *float32, x *uint16, less float32, n int)

//go:noescape
func expAVX512(dst, x *float32, less float32, n int)

//go:noescape
func exp2AVX512(dst, x *float32, less float32, n int)

//go:noescape
func sumAVX512(sums, x *float32, n int)

//go:noescape
func halvesAVX2(sums *float32) float32

//go:noescape
func halvesAVX512(sums *float32) float32

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
		return Loops{
			Exp: whole(expAVX512), Exp2: whole(exp2AVX512), Largest: largest(largestAVX512),
			Sum: summed(sumAVX512, add, halvesAVX512), Squares: squared(squaresAVX512, addSquares, halvesAVX512),
			SumBFloat16: summed(sumBFloat16AVX512, addBFloat16, halvesAVX512), SquaresBFloat16: squared(squaresBFloat16AVX512, addSquaresBFloat16, halvesAVX512),
		}
	case avx2:
		return Loops{
			Exp: whole(expAVX2), Exp2: whole(exp2AVX2), Largest: largest(largestAVX2),
			Sum: summed(sumAVX2, add, halvesAVX2), Squares: squared(squaresAVX2, addSquares, halvesAVX2),
			SumBFloat16: summed(sumBFloat16AVX2, addBFloat16, halvesAVX2), SquaresBFloat16: squared(squaresBFloat16AVX2, addSquaresBFloat16, halvesAVX2),
		}
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

func summed[T any](fast func(sums *float32, x *T, n int), rest func(sums *[sumLanes]float32, x []T), halves func(sums *float32) float32) func(x []T) float32 {
	return func(x []T) float32 {
		var sums [sumLanes]float32
		n := len(x) &^ (sumLanes - 1)
		if n > 0 {
			fast(&sums[0], &x[0], n)
		}
		rest(&sums, x[n:])
		return halves(&sums[0])
	}
}

func squared[T any](fast func(sums *float32, x *T, less float32, n int), rest func(sums *[sumLanes]float32, x []T, less float32), halves func(sums *float32) float32) func(x []T, less float32) float32 {
	return func(x []T, less float32) float32 {
		var sums [sumLanes]float32
		n := len(x) &^ (sumLanes - 1)
		if n > 0 {
			fast(&sums[0], &x[0], less, n)
		}
		rest(&sums, x[n:], less)
		return halves(&sums[0])
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
