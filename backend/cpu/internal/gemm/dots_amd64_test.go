package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// A dotsTwins is a dots in assembly beside the same in Go.
type dotsTwins struct {
	name        string
	fast, twin  dots[float32]
	rows, lanes int
	word        func(*rand.Rand) uint32
}

func eachDots(t testing.TB) (list []dotsTwins) {
	floats := func(a, b uint32) float32 { return asNumber(a) * asNumber(b) }
	add := func(name string, rows, lanes int, fast dots[float32], multiply func(a, b uint32) float32, word func(*rand.Rand) uint32) {
		list = append(list, dotsTwins{name, fast, dotsWords(lanes, multiply), rows, lanes, word})
	}
	if len(AVX2.Missing()) == 0 {
		add("avx2 float32", 2, 8, dotsFloat32AVX2, floats, smallFloat)
	}
	if k := For(AVX512); k != nil {
		add("avx512 float32", 4, 16, dotsFloat32AVX512, floats, smallFloat)
		if k.PairsBFloat16 != nil {
			add("avx512 bfloat16", 4, 16, dotsBFloat16AVX512, func(a, b uint32) float32 {
				return asNumber(a<<16)*asNumber(b<<16) + asNumber(a&^0xffff)*asNumber(b&^0xffff)
			}, func(r *rand.Rand) uint32 { return smallFloat(r)>>16 | smallFloat(r)&0xffff0000 })
		}
	}
	if len(list) < 3 {
		t.Logf("not tested on this machine: all but %d dots", len(list))
	}
	return list
}

// asNumber is the float32 of a word; small ones are summed exactly in any order.
func asNumber(word uint32) float32 { return *(*float32)(unsafe.Pointer(&word)) }

func TestDots(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, x := range eachDots(t) {
		for rows := 1; rows <= x.rows; rows++ {
			for vectors := 1; vectors <= 5; vectors++ {
				checkDots(t, r, x, rows, vectors, 1+r.IntN(5))
			}
		}
	}
}

func FuzzDots(f *testing.F) {
	for which := range uint8(3) {
		f.Add(uint64(which), which, uint8(0), uint8(0), uint8(0))
		f.Add(uint64(which), which, uint8(3), uint8(8), uint8(4))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, vectors, turns uint8) {
		list := eachDots(t)
		if len(list) == 0 {
			t.Skip("no dots on this machine")
		}
		x := list[int(which)%len(list)]
		checkDots(t, rand.New(rand.NewPCG(seed, 33)), x, 1+int(rows)%x.rows, 1+int(vectors)%40, 1+int(turns)%20)
	})
}

// checkDots compares the whole memory of c after the routine and its twin.
func checkDots(t *testing.T, r *rand.Rand, x dotsTwins, rows, vectors, turns int) {
	t.Helper()
	deep, cols := vectors*x.lanes, turns*dotsColumns
	lda, ldb, ldc := deep+r.IntN(9), deep+r.IntN(9), cols+r.IntN(9)
	a, b := fencedWords(t, r, (rows-1)*lda+deep, x.word), fencedWords(t, r, (cols-1)*ldb+deep, x.word)
	const guard = 7
	c := fenced[float32](t, guard+(rows-1)*ldc+cols)
	for i := range c {
		c[i] = float32(r.IntN(2001) - 1000)
	}
	want, accumulate := slices.Clone(c), r.IntN(2) == 0
	run := func(d dots[float32], c []float32) {
		d(&c[guard], ldc, &a[0], lda*wordBytes, at(b, 0), ldb*wordBytes, vectors, rows, turns, r.IntN(1<<14), accumulate)
	}
	run(x.twin, want)
	run(x.fast, c)
	sameMemory(t, c, want, guard, "%s, %d rows of %d vectors, %d turns, accumulate %v", x.name, rows, vectors, turns, accumulate)
}
