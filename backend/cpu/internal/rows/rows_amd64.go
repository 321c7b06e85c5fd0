package rows

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"

	"matladder/internal/bfloat16"
)

// The routines do n elements, a positive multiple of 16, and are the loops of their names in
// Generic. What differs: n is a multiple of 32 for those to int8; of 8 for extremes, whose lo and hi
// are bits as ordered tells, and size the largest without sign. Rows are ldd and ldx elements apart.

// cubicsAVX2 does the first done of n elements, a multiple of 4.
//
//go:noescape
func cubicsAVX2(dst, x *float32, n int, c *Cubics) (done int)

// For returns the fastest loops; avx2 says that the processor has AVX2, avx512 that it has
// AVX-512 F.
func For(avx2, avx512 bool) Loops {
	if !avx2 {
		return Generic
	}
	l := forAVX2()
	if avx512 {
		l.Chain = func(c *Chain, rows, n int) {
			if rows, n = c.joined(rows, n); rows > 0 && n > 0 {
				chainAVX512(c, rows, n, cpu.X86.HasAVX512BF16)
			}
		}
		l.MulBFloat16 = multiplied(mulBFloat16AVX512)
	}
	return l
}

// multiplied is MulBFloat16 of a routine that does whole turns of 32 elements.
func multiplied(fast func(dst *uint16, x *float32, n int)) func(dst []uint16, x []float32) {
	return func(dst []uint16, x []float32) {
		x = x[:len(dst)]
		n := len(dst) &^ 31
		if n > 0 {
			fast(&dst[0], &x[0], n)
		}
		Generic.MulBFloat16(dst[n:], x[n:])
	}
}

func forAVX2() Loops {
	return Loops{
		Add: three(addAVX2, Generic.Add),
		Sub: three(subAVX2, Generic.Sub),
		Mul: three(mulAVX2, Generic.Mul),
		Select: func(dst, x, y []float32, cond []bool) {
			x, y, cond = x[:len(dst)], y[:len(dst)], cond[:len(dst)]
			n := len(dst) &^ 15
			if n > 0 {
				selectAVX2(&dst[0], &x[0], &y[0], &cond[0], n)
			}
			Generic.Select(dst[n:], x[n:], y[n:], cond[n:])
		},
		Chain: chainOfAVX2,

		Max:          three(maxAVX2, Generic.Max),
		Min:          three(minAVX2, Generic.Min),
		AddInt32:     three(addInt32AVX2, Generic.AddInt32),
		SubInt32:     three(subInt32AVX2, Generic.SubInt32),
		MulInt32:     three(mulInt32AVX2, Generic.MulInt32),
		FromInt32:    two(fromInt32AVX2, Generic.FromInt32),
		FromBFloat16: two(fromBFloat16AVX2, Generic.FromBFloat16),
		MulBFloat16:  multiplied(mulBFloat16AVX2),
		ToInt8: func(dst []int8, x []float32, by, zero float32) {
			x = x[:len(dst)]
			n := len(dst) &^ 31
			if n == 0 {
				Generic.ToInt8(dst, x, by, zero)
				return
			}
			toInt8AVX2(&dst[0], &x[0], by, zero, n)
			if last := len(dst) - 32; n < len(dst) { // some again, to have as many
				toInt8AVX2(&dst[last], &x[last], by, zero, 32)
			}
		},
		BFloat16ToInt8: func(dst []int8, x []uint16, by, zero float32, ahead int) {
			x = x[:len(dst)]
			n := len(dst) &^ 31
			if n == 0 {
				Generic.BFloat16ToInt8(dst, x, by, zero, ahead)
				return
			}
			bfloat16ToInt8AVX2(&dst[0], &x[0], by, zero, n, ahead)
			if last := len(dst) - 32; n < len(dst) { // some again
				bfloat16ToInt8AVX2(&dst[last], &x[last], by, zero, 32, ahead)
			}
		},
		Cubics: func(dst, x []float32, c *Cubics) {
			const step = 4
			for x = x[:len(dst)]; len(dst) >= step; {
				done := cubicsAVX2(&dst[0], &x[0], len(dst)&^(step-1), c)
				dst, x = dst[done:], x[done:]
				if len(dst) >= step { // with a NaN
					cubics(dst[:step], x, c)
					dst, x = dst[step:], x[step:]
				}
			}
			cubics(dst, x, c)
		},
		AbsMax: func(x []float32) float32 {
			n := len(x) &^ 15
			if n == 0 {
				return Generic.AbsMax(x)
			}
			// Of magnitudes the greater has the greater bits, and NaN the greatest.
			top, rest := absMaxAVX2(&x[0], n), Generic.AbsMax(x[n:])
			return math.Float32frombits(max(math.Float32bits(top), math.Float32bits(rest)))
		},
		Extremes: func(x []float32) (lo, hi float32) {
			n := len(x) &^ 7
			if n == 0 {
				return Generic.Extremes(x)
			}
			l, h, size := extremesAVX2(&x[0], n)
			if n < len(x) { // some again
				l2, h2, size2 := extremesAVX2(&x[len(x)-8], 8)
				l, h, size = min(l, l2), max(h, h2), max(size, size2)
			}
			if size > infinity {
				return nan, nan
			}
			return ordered(l), ordered(h)
		},
		AbsMaxBFloat16: func(x []uint16) float32 {
			n := len(x) &^ 31
			if n == 0 {
				return Generic.AbsMaxBFloat16(x)
			}
			top := absMaxBFloat16AVX2(&x[0], n)
			if n < len(x) { // some again
				top = max(top, absMaxBFloat16AVX2(&x[len(x)-32], 32))
			}
			return bfloat16.Widen(top)
		},
	}
}

// chainOfAVX2 does the last few elements of each row in Go, where sums of a row are added up, too.
func chainOfAVX2(c *Chain, rows, n int) {
	rows, n = c.joined(rows, n)
	whole, last := n&^31, c.last()
	if whole > 0 && rows > 0 && c.Do[last] == Turn {
		chainAVX2(c, rows, whole, false)
	}
	for row := 0; row < rows && (whole < n || c.Do[last] == TurnSum); row++ {
		var sums [32]float32
		if whole > 0 && c.Do[last] == TurnSum {
			one := *c
			for i := range last {
				one.At[i] = unsafe.Add(c.At[i], row*c.Step[i])
			}
			one.At[last] = unsafe.Pointer(&sums)
			chainAVX2(&one, 1, whole, false)
		}
		c.row(row, whole, n, &sums)
	}
}

// infinity is the bits that only those of a NaN are above, without sign.
const infinity = 0x7f800000

var nan = float32(math.NaN())

// ordered is the number of bits of which, if it is negative, all but the sign have
// been turned over.
func ordered(bits int32) float32 { return math.Float32frombits(uint32(bits ^ bits>>31&math.MaxInt32)) }

func two[D, S any](fast func(dst *D, x *S, n int), rest func(dst []D, x []S)) func(dst []D, x []S) {
	return func(dst []D, x []S) {
		x = x[:len(dst)]
		n := len(dst) &^ 15
		if n > 0 {
			fast(&dst[0], &x[0], n)
		}
		rest(dst[n:], x[n:])
	}
}

func three[T any](fast func(dst, x, y *T, n int), rest func(dst, x, y []T)) func(dst, x, y []T) {
	return func(dst, x, y []T) {
		x, y = x[:len(dst)], y[:len(dst)]
		n := len(dst) &^ 15
		if n > 0 {
			fast(&dst[0], &x[0], &y[0], n)
		}
		rest(dst[n:], x[n:], y[n:])
	}
}
