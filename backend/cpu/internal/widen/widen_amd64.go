package widen

// The routines widen n elements from the beginning of src, a positive multiple of 64; each is the
// loop of its name in Generic.

// For returns the fastest loops; avx2 and avx512 say what the processor has:
// AVX2, and AVX-512 F and BW.
func For(avx2, avx512 bool) Loops {
	switch {
	case avx512:
		return Loops{
			Int4ToInt8:   fromHalves(int4ToInt8AVX512, Generic.Int4ToInt8),
			Float4ToInt8: fromHalves(float4ToInt8AVX512, Generic.Float4ToInt8),
			Float16:      fromWords(float16AVX512, Generic.Float16),
			Float4:       fromHalves(float4AVX512, Generic.Float4),
			Int4:         fromHalves(int4AVX512, Generic.Int4),
			Int8:         fromBytes(int8AVX512, Generic.Int8),
			Float8E4M3:   fromBytes(float8E4M3AVX512, Generic.Float8E4M3),
			Float8E5M2:   fromBytes(float8E5M2AVX512, Generic.Float8E5M2),
			Float8E8M0:   fromBytes(float8E8M0AVX512, Generic.Float8E8M0),
		}
	case avx2:
		return Loops{
			Int4ToInt8:   fromHalves(int4ToInt8AVX2, Generic.Int4ToInt8),
			Float4ToInt8: fromHalves(float4ToInt8AVX2, Generic.Float4ToInt8),
			Float16:      fromWords(float16AVX2, Generic.Float16),
			Float4:       fromHalves(float4AVX2, Generic.Float4),
			Int4:         fromHalves(int4AVX2, Generic.Int4),
			Int8:         fromBytes(int8AVX2, Generic.Int8),
			Float8E4M3:   fromBytes(float8E4M3AVX2, Generic.Float8E4M3),
			Float8E5M2:   fromBytes(float8E5M2AVX2, Generic.Float8E5M2),
			Float8E8M0:   fromBytes(float8E8M0AVX2, Generic.Float8E8M0),
		}
	}
	return Generic
}

const whole = 64

// fromWords is fromBytes for elements of two bytes.
func fromWords[T any](fast func(dst *T, src *byte, n, ahead int), rest func(dst []T, src []byte, off, ahead int)) func(dst []T, src []byte, off, ahead int) {
	return func(dst []T, src []byte, off, ahead int) {
		n := len(dst) / whole * whole
		if n > 0 {
			fast(&dst[0], &src[2*off], n, ahead)
		}
		rest(dst[n:], src, off+n, 0)
	}
}

func fromBytes[T any](fast func(dst *T, src *byte, n, ahead int), rest func(dst []T, src []byte, off, ahead int)) func(dst []T, src []byte, off, ahead int) {
	return func(dst []T, src []byte, off, ahead int) {
		src = src[off : off+len(dst)]
		n := len(dst) / whole * whole
		if n > 0 {
			fast(&dst[0], &src[0], n, ahead)
		}
		rest(dst[n:], src, n, 0)
	}
}

// fromHalves is fromBytes for elements of half a byte; one in the high nibble is left to
// rest, so that the others begin at a byte.
func fromHalves[T any](fast func(dst *T, src *byte, n, ahead int), rest func(dst []T, src []byte, off, ahead int)) func(dst []T, src []byte, off, ahead int) {
	return func(dst []T, src []byte, off, ahead int) {
		if off%2 != 0 && len(dst) > 0 {
			rest(dst[:1], src, off, 0)
			dst, off = dst[1:], off+1
		}
		src = src[off/2 : (off+len(dst)+1)/2]
		n := len(dst) / whole * whole
		if n > 0 {
			fast(&dst[0], &src[0], n, ahead)
		}
		rest(dst[n:], src, n, 0)
	}
}
