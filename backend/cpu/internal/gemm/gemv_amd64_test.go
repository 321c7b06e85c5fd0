package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A gemvTwins is a gemv in assembly beside the same in Go.
type gemvTwins struct {
	name       string
	fast, twin gemv[float32]
	columns    int
	word       func(*rand.Rand) uint32
}

func eachGemv(t testing.TB) (list []gemvTwins) {
	floats := func(a, b uint32) float32 { return asNumber(a) * asNumber(b) }
	if len(AVX2.Missing()) == 0 {
		list = append(list, gemvTwins{"avx2 float32", gemvFloat32AVX2, gemvWords(floats), 4, smallFloat})
	}
	if k := For(AVX512); k != nil {
		list = append(list, gemvTwins{"avx512 float32", gemvFloat32AVX512, gemvWords(floats), 8, smallFloat})
		if k.PairsBFloat16 != nil {
			list = append(list, gemvTwins{"avx512 bfloat16", gemvBFloat16AVX512, gemvWords(func(a, b uint32) float32 {
				return asNumber(a<<16)*asNumber(b<<16) + asNumber(a&^0xffff)*asNumber(b&^0xffff)
			}), 8, smallPairs})
		}
	}
	if len(list) < 3 {
		t.Logf("not tested on this machine: all but %d gemv", len(list))
	}
	return list
}

// TestGemv has rows of every number of words up to three vectors and a mask, and every number of rows
// around those that take a turn.
func TestGemv(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, x := range eachGemv(t) {
		for cols := 1; cols <= x.columns; cols++ {
			for steps := 1; steps <= 67; steps++ {
				checkGemv(t, r, x, 1+r.IntN(40), cols, steps)
			}
			for rows := 1; rows <= 40; rows++ {
				checkGemv(t, r, x, rows, cols, 1+r.IntN(67))
			}
		}
	}
}

func FuzzGemv(f *testing.F) {
	for which := range uint8(3) {
		f.Add(uint64(which), which, uint8(0), uint8(0), uint8(0))
		f.Add(uint64(which), which, uint8(37), uint8(2), uint8(84))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, cols, steps uint8) {
		list := eachGemv(t)
		if len(list) == 0 {
			t.Skip("no gemv on this machine")
		}
		x := list[int(which)%len(list)]
		checkGemv(t, rand.New(rand.NewPCG(seed, 43)), x, 1+int(rows), 1+int(cols)%x.columns, 1+int(steps))
	})
}

// checkGemv compares the whole memory of c after the routine and its twin. What lies between rows of a
// and between columns of b is NaN, and behind the last ones nothing may be read.
func checkGemv(t *testing.T, r *rand.Rand, x gemvTwins, rows, cols, steps int) {
	t.Helper()
	const guard = 7
	lda, ldc := steps+r.IntN(3)*r.IntN(9), cols+r.IntN(2)*r.IntN(9)
	matrix := func(rows, ld int) []uint32 {
		words := fenced[uint32](t, (rows-1)*ld+steps)
		for i := range words {
			if words[i] = 0x7fc07fc0; i%ld < steps {
				words[i] = x.word(r)
			}
		}
		return words
	}
	a, b := matrix(rows, lda), matrix(cols, gemvColumn)
	c := fenced[float32](t, guard+(rows-1)*ldc+cols)
	accumulate := r.IntN(2) == 0
	for i := range c {
		if c[i] = float32(r.IntN(2001) - 1000); !accumulate && i >= guard && (i-guard)%ldc < cols {
			c[i] = float32(math.NaN())
		}
	}
	want := slices.Clone(c)
	x.twin(&want[guard], ldc, &a[0], lda*wordBytes, &b[0], steps, rows, cols, accumulate)
	x.fast(&c[guard], ldc, &a[0], lda*wordBytes, &b[0], steps, rows, cols, accumulate)
	sameMemory(t, c, want, guard, "%s, %d×%d of %d steps, rows %d apart, accumulate %v, ldc %d", x.name, rows, cols, steps, lda, accumulate, ldc)
}

// BenchmarkGemv is the micro-kernel alone.
func BenchmarkGemv(b *testing.B) {
	r := rand.New(rand.NewPCG(44, 45))
	for _, x := range eachGemv(b) {
		for _, s := range [][3]int{{304, 5, 1}, {304, 8, 1}, {304, 12, 1}, {304, 16, 1}, {304, 24, 1}, {304, 32, 1}, {304, 5, 2}, {304, 8, 2}, {304, 16, 2}, {304, 24, 2}, {304, 8, 3}, {304, 8, 4}, {304, 16, 4}, {304, 32, 4}, {304, 64, 4}, {304, 64, 8}, {226, 57, 1}, {128, 57, 1}, {128, 64, 1}, {200, 64, 1}, {400, 64, 1}, {544, 93, 1}, {128, 1024, 1}, {400, 1000, 1}, {500, 130, 1}, {500, 200, 1}, {500, 250, 1}, {500, 300, 1}, {500, 400, 1}, {300, 500, 2}, {300, 300, 3}, {5000, 200, 1}, {5000, 400, 1}, {5000, 500, 2}, {1000, 1000, 1}, {4096, 4096, 1}, {567, 7, 2}, {8192, 1000, 2}, {389, 16, 6}, {2019, 313, 5}, {2000, 2000, 8}} {
			m, k, n := s[0], s[1], s[2]
			if n > x.columns {
				continue
			}
			va, vb, c := make([]uint32, m*k), make([]uint32, n*gemvColumn), make([]float32, m*n)
			for i := range va {
				va[i] = x.word(r)
			}
			for i := range vb {
				vb[i] = x.word(r)
			}
			b.Run(fmt.Sprintf("%s/%dx%dx%d", x.name, m, k, n), func(b *testing.B) {
				seconds := best(b, func() {
					for l := 0; l < k; l += gemvSteps {
						x.fast(&c[0], n, &va[l], k*wordBytes, &vb[0], min(k-l, gemvSteps), m, n, l > 0)
					}
				})
				b.ReportMetric(seconds*1e6, "µs-best")
				b.ReportMetric(float64(4*m*k)/seconds/1e9, "GB/s")
			})
		}
	}
}
