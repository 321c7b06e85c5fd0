package widen

// The routines widen n elements from the beginning of src, a positive multiple of 64; each is the
// loop of its name in Generic.

// For returns the fastest loops; avx2 and avx512 say what the processor has:
// AVX2, and AVX-512 F and BW.
func For(avx2, avx512 bool) Loops {
	switch {
	case avx512:
		return Loops{
			Int4ToInt8:   wide(4, int4ToInt8AVX512, Generic.Int4ToInt8),
			Float4ToInt8: wide(4, float4ToInt8AVX512, Generic.Float4ToInt8),
			Float16:      wide(16, float16AVX512, Generic.Float16),
			Float4:       wide(4, float4AVX512, Generic.Float4),
			Int4:         wide(4, int4AVX512, Generic.Int4),
			Int8:         wide(8, int8AVX512, Generic.Int8),
			Float8E4M3:   wide(8, float8E4M3AVX512, Generic.Float8E4M3),
			Float8E5M2:   wide(8, float8E5M2AVX512, Generic.Float8E5M2),
			Float8E8M0:   wide(8, float8E8M0AVX512, Generic.Float8E8M0),
		}
	case avx2:
		return Loops{
			Int4ToInt8:   wide(4, int4ToInt8AVX2, Generic.Int4ToInt8),
			Float4ToInt8: wide(4, float4ToInt8AVX2, Generic.Float4ToInt8),
			Float16:      wide(16, float16AVX2, Generic.Float16),
			Float4:       wide(4, float4AVX2, Generic.Float4),
			Int4:         wide(4, int4AVX2, Generic.Int4),
			Int8:         wide(8, int8AVX2, Generic.Int8),
			Float8E4M3:   wide(8, float8E4M3AVX2, Generic.Float8E4M3),
			Float8E5M2:   wide(8, float8E5M2AVX2, Generic.Float8E5M2),
			Float8E8M0:   wide(8, float8E8M0AVX2, Generic.Float8E8M0),
		}
	}
	return Generic
}

// wide has elements of so many bits widened by a routine as far as whole turns of it go, and the
// others by the loop in Go: of 4 bits also one in a high nibble, so that the routine begins at a byte.
func wide[T any](bits int, fast func(dst *T, src *byte, n, ahead int), rest func(dst []T, src []byte, off, ahead int)) func(dst []T, src []byte, off, ahead int) {
	const whole = 64
	return func(dst []T, src []byte, off, ahead int) {
		if off*bits%8 != 0 && len(dst) > 0 {
			rest(dst[:1], src, off, 0)
			dst, off = dst[1:], off+1
		}
		src = src[off*bits/8 : ((off+len(dst))*bits+7)/8]
		n := len(dst) / whole * whole
		if n > 0 {
			fast(&dst[0], &src[0], n, ahead)
		}
		rest(dst[n:], src, n, 0)
	}
}
