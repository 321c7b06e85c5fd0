package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A gemvTwins is a gemv in assembly beside the same in Go.
type gemvTwins[S Source, C Sum] struct {
	name          string
	fast, twin    gemv[C]
	columns, deep int // at most, and elements in a vector
	element       func(*rand.Rand) S
	junk          S // what must not count
}

func (x gemvTwins[S, C]) test(t *testing.T, name string) {
	t.Run(name, func(t *testing.T) {
		r := rand.New(rand.NewPCG(41, 42))
		for cols := 1; cols <= x.columns; cols++ {
			for k := 1; k <= 3*x.deep+1; k += 1 + r.IntN(x.deep/4) {
				checkGemv(t, r, x, 1+r.IntN(40), cols, k)
			}
			for rows := 1; rows <= 40; rows += 1 + cols/17 {
				checkGemv(t, r, x, rows, cols, 1+r.IntN(4*x.deep))
			}
		}
	})
}

func floatGemv(name string, fast gemv[float32], columns, deep int) gemvTwins[float32, float32] {
	element := func(r *rand.Rand) float32 { return math.Float32frombits(smallFloat(r)) }
	return gemvTwins[float32, float32]{name, fast, gemvElements[float32, float32](0), columns, deep, element, float32(math.NaN())}
}

// byRows is a spread as a gemv: columns of b come to rows, some with a gap between.
func byRows(t testing.TB, f spread[float32], gap int) gemv[float32] {
	return func(c *float32, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, _ *float32, accumulate bool) {
		ldb := cols + gap*(k%2)
		from := fenced[float32](t, (k-1)*ldb+cols)
		for i := range from {
			if from[i] = float32(math.NaN()); i%ldb < cols {
				from[i] = unsafe.Slice((*float32)(b), cols*gemvColumn)[i%ldb*gemvColumn+i/ldb]
			}
		}
		f(c, ldc, a, at(from, 0), lda, ldb*wordBytes, k, rows, cols, accumulate)
	}
}

// ofSeveral is f of more columns than one.
func ofSeveral(f gemv[float32]) gemv[float32] {
	return func(c *float32, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *float32, accumulate bool) {
		run := f
		if cols == 1 {
			run = gemvFloat32AVX512
		}
		run(c, ldc, a, b, lda, k, rows, cols, bias, accumulate)
	}
}

// flatOfFour is flatQuadsAVX512 as a gemv: four columns of bytes come to rows without a gap, and what sums
// start from is added at the end.
func flatOfFour(t testing.TB) gemv[int32] {
	return func(c *int32, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *int32, accumulate bool) {
		if cols != 4 {
			gemvQuadsAVX512(c, ldc, a, b, lda, k, rows, cols, bias, accumulate)
			return
		}
		from, starts := fenced[int8](t, k*cols), slices.Clone(span(bias, cols))
		for i := range from {
			from[i] = *(*int8)(unsafe.Add(b, i%cols*gemvColumn*wordBytes+i/cols))
			starts[i%cols] += 128 * int32(from[i])
		}
		flatQuadsAVX512(c, ldc, a, at(from, 0), lda, cols, k, rows, cols, accumulate)
		for i := range rows * cols {
			*offset(c, (i/cols*ldc+i%cols)*wordBytes) += starts[i%cols]
		}
	}
}

// byOuter is an outer as a gemv whose sums start from 0.
func byOuter[S Source, C Sum](f spread[C]) gemv[C] {
	return func(c *C, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, _ *C, accumulate bool) {
		w, from := new(gemvWork), make([]S, k*cols)
		for i := range w.b {
			w.b[i] = math.MaxUint32
		}
		for i := range from {
			from[i] = *(*S)(unsafe.Add(b, i%cols*gemvColumn*wordBytes+i/cols*memory.Size[S]()))
		}
		outerRows(w, from, cols, k, cols)
		f(c, ldc, a, unsafe.Pointer(&w.b), lda, outerColumns*wordBytes, k, rows, cols, accumulate)
	}
}

func outerTwins[S Source, C Sum](f spread[C], columns int, element func(*rand.Rand) S, junk S) gemvTwins[S, C] {
	return gemvTwins[S, C]{"outer", byOuter[S](f), func(c *C, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, _ *C, accumulate bool) {
		gemvElements[S, C](0)(c, ldc, a, b, lda, k, rows, cols, nil, accumulate)
	}, columns, 8, element, junk}
}

// byWidening has columns of bfloat16 widened for a gemv.
func byWidening(f gemv[float32]) gemv[float32] {
	return func(c *float32, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *float32, accumulate bool) {
		w, rowsOfB := new(gemvWork), make([]uint16, k*cols)
		for i := range rowsOfB {
			rowsOfB[i] = *(*uint16)(unsafe.Add(b, i%cols*gemvColumn*wordBytes+i/cols*2))
		}
		widenColumns(w, 0, rowsOfB, cols, k, cols)
		f(c, ldc, a, unsafe.Pointer(&w.b), lda, k, rows, cols, bias, accumulate)
	}
}

// ofTransposed has c transposed for a gemv, between words that it must leave alone.
func ofTransposed[C Sum](t testing.TB, f gemv[C]) gemv[C] {
	return func(c *C, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *C, accumulate bool) {
		const alone = 4321
		ld := rows + k%3
		x := fenced[C](t, (cols-1)*ld+rows)
		for i := range x {
			if x[i] = alone; i%ld < rows {
				x[i] = span(c, rows*ldc)[i%ld*ldc+i/ld]
			}
		}
		f(&x[0], ld, a, b, lda, k, rows, cols, bias, accumulate)
		for i, v := range x {
			if i%ld < rows {
				span(c, rows*ldc)[i%ld*ldc+i/ld] = v
			} else if v != alone {
				t.Errorf("%d×%d over %d: wrote between rows", rows, cols, k)
			}
		}
	}
}

func TestGemv(t *testing.T) {
	if len(AVX2.Missing()) == 0 {
		floatGemv("avx2 float32", gemvFloat32AVX2, 4, 8).test(t, "avx2 float32")
		floatGemv("avx2 dots", ofTransposed(t, dotsFloat32AVX2), 4, 8).test(t, "avx2 dots")
		floatGemv("avx2 spread", byRows(t, spreadFloat32AVX2, 3), 8, 8).test(t, "avx2 spread")
	}
	k := For(AVX512)
	if k == nil {
		t.Skip("not tested on this machine: those of AVX-512")
	}
	floatGemv("avx512 float32", gemvFloat32AVX512, 8, 16).test(t, "avx512 float32")
	floatGemv("avx512 dots", ofTransposed(t, dotsFloat32AVX512), 8, 16).test(t, "avx512 dots")
	floatGemv("avx512 spread", byRows(t, spreadFloat32AVX512, 3), 16, 16).test(t, "avx512 spread")
	floatGemv("avx512 flat", ofSeveral(byRows(t, flatFloat32AVX512, 0)), 8, 16).test(t, "avx512 flat")
	wide := gemvTwins[uint16, float32]{"wide", byWidening(gemvWideBFloat16AVX512), gemvElements[uint16, float32](0), 4, 32, smallBFloat16, 0x7fc0}
	wide.test(t, "avx512 widened bfloat16")
	wide.fast = ofTransposed(t, byWidening(dotsWideBFloat16AVX512))
	wide.test(t, "avx512 widened bfloat16 dots")
	outerTwins(outerWideBFloat16AVX512, outerColumns, smallBFloat16, 0x7fc0).test(t, "avx512 outer bfloat16")
	if k.PairsBFloat16 != nil {
		gemvTwins[uint16, float32]{"pairs", gemvBFloat16AVX512, gemvElements[uint16, float32](0), 8, 32, smallBFloat16, 0x7fc0}.test(t, "avx512 bfloat16")
		gemvTwins[uint16, float32]{"dots", ofTransposed(t, dotsBFloat16AVX512), gemvElements[uint16, float32](0), 8, 32, smallBFloat16, 0x7fc0}.test(t, "avx512 bfloat16 dots")
	}
	if k.Int8.KU == 4 {
		outerTwins(outerQuadsAVX512, outerColumns-1, anyByte, 77).test(t, "avx512 outer int8")
		gemvTwins[int8, int32]{"quads", gemvQuadsAVX512, gemvElements[int8, int32](128), 8, 64, anyByte, 77}.test(t, "avx512 int8")
		gemvTwins[int8, int32]{"flat quads", flatOfFour(t), gemvElements[int8, int32](128), 4, 64, anyByte, 77}.test(t, "avx512 flat int8")
	}
}

func FuzzGemv(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(0), uint8(0))
	f.Add(uint64(2), uint8(37), uint8(2), uint8(84))
	if For(AVX512) == nil {
		f.Skip("this machine has no AVX-512")
	}
	f.Fuzz(func(t *testing.T, seed uint64, rows, cols, k uint8) {
		r := rand.New(rand.NewPCG(seed, 43))
		checkGemv(t, r, floatGemv("avx512", gemvFloat32AVX512, 8, 16), 1+int(rows), 1+int(cols)%8, 1+int(k))
		checkGemv(t, r, floatGemv("avx2", gemvFloat32AVX2, 4, 8), 1+int(rows), 1+int(cols)%4, 1+int(k))
		checkGemv(t, r, floatGemv("flat", byRows(t, flatFloat32AVX512, 0), 8, 16), 1+int(rows), 2+int(cols)%7, 1+int(k))
		checkGemv(t, r, floatGemv("spread", byRows(t, spreadFloat32AVX512, 3), 16, 16), 1+int(rows), 1+int(cols)%16, 1+int(k))
		checkGemv(t, r, outerTwins(outerWideBFloat16AVX512, outerColumns, smallBFloat16, 0x7fc0), 1+int(rows), 1+int(cols)%outerColumns, 1+int(k)%64)
		if For(AVX512).Int8.KU == 4 {
			checkGemv(t, r, outerTwins(outerQuadsAVX512, outerColumns-1, anyByte, 77), 1+int(rows), 1+int(cols)%(outerColumns-1), 1+int(k))
		}
	})
}

// checkGemv compares the whole memory of c after the routine and its twin. What lies between rows of a
// and between columns of b is junk, and behind the last ones nothing may be read.
func checkGemv[S Source, C Sum](t *testing.T, r *rand.Rand, x gemvTwins[S, C], rows, cols, k int) {
	t.Helper()
	const guard = 7
	lda, ldc := k+r.IntN(3)*r.IntN(9), cols+r.IntN(2)*r.IntN(9)
	matrix := func(rows, ld int) []S {
		elements := fenced[S](t, (rows-1)*ld+k)
		for i := range elements {
			if elements[i] = x.junk; i%ld < k {
				elements[i] = x.element(r)
			}
		}
		return elements
	}
	a, b := matrix(rows, lda), matrix(cols, gemvColumn*wordBytes/memory.Size[S]())
	c, bias := fenced[C](t, guard+(rows-1)*ldc+cols), (*C)(nil)
	accumulate := r.IntN(2) == 0
	before, isFloat := any(float32(math.NaN())).(C)
	for i := range c {
		if c[i] = C(r.IntN(2001) - 1000); isFloat && !accumulate && i >= guard && (i-guard)%ldc < cols {
			c[i] = before
		}
	}
	if _, ok := any(b).([]int8); ok {
		biases := fenced[C](t, 16)
		for i := range biases {
			biases[i] = C(i % cols << 10)
		}
		bias = &biases[0]
	}
	want := slices.Clone(c)
	x.twin(&want[guard], ldc, at(a, 0), at(b, 0), lda*memory.Size[S](), k, rows, cols, bias, accumulate)
	x.fast(&c[guard], ldc, at(a, 0), at(b, 0), lda*memory.Size[S](), k, rows, cols, bias, accumulate)
	sameMemory(t, c, want, guard, "%s, %d×%d over %d, rows %d apart, accumulate %v, ldc %d", x.name, rows, cols, k, lda, accumulate, ldc)
}

// BenchmarkColumns is a product of few columns, of rows that follow each other.
func BenchmarkColumns(b *testing.B) {
	for _, isa := range []ISA{AVX2, AVX512} {
		if k := For(isa); k != nil {
			benchColumns(b, k.Float32)
			benchColumns(b, k.WideBFloat16)
			if k.PairsBFloat16 != nil {
				benchColumns(b, k.PairsBFloat16)
			}
			benchColumns(b, k.Int8)
		}
	}
}

func benchColumns[S Source, C Sum](b *testing.B, p *MicroKernels[S, C]) {
	for _, s := range [][3]int{{304, 5, 1}, {226, 57, 1}, {544, 93, 1}, {567, 7, 2}, {389, 16, 6}, {2019, 313, 5}, {1000, 1000, 1}, {4096, 4096, 1}, {2000, 2000, 8}} {
		m, k, n := s[0], s[1], s[2]
		if !p.CanRead(ReadColumns) {
			continue
		}
		r, vb, c := Run[S]{Rows: randomSource[S](m * k), LDA: k}, randomSource[S](k*n), make([]C, m*n)
		b.Run(fmt.Sprintf("%s/%dx%dx%d", p.Name, m, k, n), func(b *testing.B) {
			seconds := best(b, func() { p.MultiplyColumns(r, c, n, m, n, k, vb, n, false) })
			b.ReportMetric(seconds*1e6, "µs-best")
			b.ReportMetric(float64(memory.Size[S]()*m*k)/seconds/1e9, "GB/s")
		})
	}
}
