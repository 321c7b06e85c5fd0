package vexp

// The routines do n elements, a positive multiple of 16 (exp) or 32 (sums, the largest), of rows
// that are ldd and ldx elements apart. Of the largest, unordered is not 0 if x has a NaN; then top
// is no matter, and where it is 0 its sign is none.

// For returns the fastest loops; avx2 says that the processor has AVX2 and FMA,
// avx512 that it has AVX-512 F.
func For(avx2, avx512 bool) Loops {
	switch {
	case avx512:
		l := Loops{
			Exp:  whole(func(dst, x *float32, less float32, n int) { expAVX512(dst, 0, x, 0, &less, 1, n) }),
			Exp2: whole(func(dst, x *float32, less float32, n int) { exp2AVX512(dst, 0, x, 0, &less, 1, n) }),
			Largest: largest(func(x *float32, n int) (top float32, unordered uint32) {
				unordered = largestAVX512(&top, x, 0, 1, n)
				return top, unordered
			}),
			Sum:     summed(sumAVX512, halvesAVX512),
			ExpRows: wholeRows(expAVX512), Exp2Rows: wholeRows(exp2AVX512), LargestRows: largestRows,
		}
		l.SumRows = sumRows(l.Sum)
		return l
	case avx2:
		return Loops{
			Exp: whole(expAVX2), Exp2: whole(exp2AVX2), Largest: largest(largestAVX2),
			Sum: summed(sumAVX2, halvesAVX2),
		}.byRow()
	}
	return Generic
}

// wholeRows does the last few elements of each row, fewer than a whole step, in a buffer.
func wholeRows(fast func(dst *float32, ldd int, x *float32, ldx int, less *float32, rows, n int)) func(dst []float32, ldd int, x []float32, ldx int, less []float32, n int) {
	const step = 16
	return func(dst []float32, ldd int, x []float32, ldx int, less []float32, n int) {
		rows, all := len(less), n&^(step-1)
		if rows == 0 || n == 0 {
			return
		}
		_, _ = dst[(rows-1)*ldd+n-1], x[(rows-1)*ldx+n-1]
		if all > 0 {
			fast(&dst[0], ldd, &x[0], ldx, &less[0], rows, all)
		}
		for i := 0; all < n && i < rows; i++ {
			var rest [step]float32
			copy(rest[:], x[i*ldx+all:i*ldx+n])
			fast(&rest[0], 0, &rest[0], 0, &less[i], 1, step)
			copy(dst[i*ldd+all:i*ldd+n], rest[:])
		}
	}
}

// sumRows has rows that do not end with a whole step summed one by one.
func sumRows(sum func(x []float32) float32) func(dst, x []float32, ldx, n int) {
	one := eachOne(sum)
	return func(dst, x []float32, ldx, n int) {
		if len(dst) == 0 || n == 0 || n%sumLanes != 0 {
			one(dst, x, ldx, n)
			return
		}
		_ = x[(len(dst)-1)*ldx+n-1]
		sumsAVX512(&dst[0], &x[0], ldx, len(dst), n)
	}
}

// largestRows leaves what lies behind the whole steps of a row, NaNs, and which zero is the
// larger one, to Go.
func largestRows(dst, x []float32, ldx, n int) {
	whole := n &^ (sumLanes - 1)
	if len(dst) == 0 || whole == 0 {
		Generic.LargestRows(dst, x, ldx, n)
		return
	}
	_ = x[(len(dst)-1)*ldx+n-1]
	unordered := largestAVX512(&dst[0], &x[0], ldx, len(dst), whole)
	for i, top := range dst {
		switch row := x[i*ldx:][:n]; {
		case unordered != 0 || top == 0:
			dst[i] = Generic.Largest(row)
		case whole < n:
			dst[i] = max(top, Generic.Largest(row[whole:]))
		}
	}
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

func summed(fast func(sums, x *float32, n int), halves func(sums *float32) float32) func(x []float32) float32 {
	return func(x []float32) float32 {
		var sums [sumLanes]float32
		n := len(x) &^ (sumLanes - 1)
		if n > 0 {
			fast(&sums[0], &x[0], n)
		}
		add(&sums, x[n:])
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
