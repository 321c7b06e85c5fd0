package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An edgeTwins is an edge in assembly beside the same in Go.
type edgeTwins[C Sum] struct {
	name       string
	fast, twin edge[C]
	mr, nr     int
	word       func(*rand.Rand) uint32
	runs       bool
}

// edges returns those of one kind that this machine may have.
func edges() (floats []edgeTwins[float32], pairs []edgeTwins[int32]) {
	narrow, wide := For(AVX2) != nil, For(AVX512) != nil
	return []edgeTwins[float32]{
			{"float32, avx2", edgeFloat32AVX2, edgeTiles(6, tileFloat32(6, 16)), 6, 16, smallFloat, narrow},
			{"float32, avx512", edgeFloat32AVX512, edgeTiles(12, tileFloat32(12, 32)), 12, 32, smallFloat, wide},
			{"pairs of bfloat16, avx512", edgeBFloat16AVX512, edgeTiles(12, tileBFloat16(12, 32)), 12, 32, smallPairs, wide && For(AVX512).PairsBFloat16 != nil},
		}, []edgeTwins[int32]{
			{"pairs, avx2", edgePairsAVX2, edgeTiles(6, tilePairs(6, 16)), 6, 16, bytePairs, narrow},
		}
}

// smallPairs make sums exact, which edges add in another order than their twins.
func smallPairs(r *rand.Rand) uint32 {
	return uint32(smallBFloat16(r)) | uint32(smallBFloat16(r))<<16
}

func TestEdge(t *testing.T) {
	floats, pairs := edges()
	for _, x := range floats {
		testEdge(t, x)
	}
	for _, x := range pairs {
		testEdge(t, x)
	}
}

func testEdge[C Sum](t *testing.T, x edgeTwins[C]) {
	t.Run(x.name, func(t *testing.T) {
		if !x.runs {
			t.Skip("not on this machine")
		}
		r := rand.New(rand.NewPCG(23, 24))
		for cols := 1; cols <= edgeCols; cols++ {
			for rows := 1; rows <= 9*x.mr+1; rows++ {
				checkEdge(t, r, x, rows, cols, 1+r.IntN(11))
			}
			for steps := 1; steps <= 40; steps++ {
				checkEdge(t, r, x, 1+r.IntN(5*x.mr), cols, steps)
			}
		}
	})
}

func FuzzEdge(f *testing.F) {
	skipWithoutAVX2(f)
	for kind := range uint8(4) {
		f.Add(uint64(kind), kind, uint8(60), kind, uint8(9))
		f.Add(uint64(kind), kind, uint8(5), kind, uint8(0))
	}
	floats, pairs := edges()
	f.Fuzz(func(t *testing.T, seed uint64, kind, rows, cols, steps uint8) {
		r := rand.New(rand.NewPCG(seed, 25))
		m, n, k := 1+int(rows), 1+int(cols)%edgeCols, 1+int(steps)
		if i := int(kind) % (len(floats) + len(pairs)); i >= len(floats) {
			checkEdge(t, r, pairs[i-len(floats)], m, n, k)
		} else if floats[i].runs {
			checkEdge(t, r, floats[i], m, n, k)
		}
	})
}

func skipWithoutAVX2(t testing.TB) {
	if missing := AVX2.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %q", missing)
	}
}

// checkEdge compares the whole memory of c after the edge and its twin. The last steps
// of a and b lie at the end of what may be read.
func checkEdge[C Sum](t *testing.T, r *rand.Rand, x edgeTwins[C], rows, cols, steps int) {
	t.Helper()
	panel := (steps + r.IntN(3)) * x.mr
	a, b := fencedWords(t, r, (ceil(rows, x.mr)-1)*panel+steps*x.mr, x.word), fencedWords(t, r, steps*x.nr, x.word)
	a0, b0 := slices.Clone(a), slices.Clone(b)
	const guard = 7
	ldc := cols + r.IntN(5)
	c := fenced[C](t, guard+(rows-1)*ldc+cols)
	for i := range c {
		c[i] = C(r.IntN(2001) - 1000)
	}
	want, accumulate := slices.Clone(c), r.IntN(2) == 0
	x.twin(&want[guard], ldc, 0, rows, cols, &a[0], panel, steps, &b[0], accumulate)
	x.fast(&c[guard], ldc, 0, rows, cols, &a[0], panel, steps, &b[0], accumulate)
	for i := range c {
		if c[i] != want[i] {
			t.Fatalf("%s, %d×%d of %d steps, panel %d, accumulate %v, ldc %d: element %d of c is %v, want %v",
				x.name, rows, cols, steps, panel, accumulate, ldc, i-guard, c[i], want[i])
		}
	}
	if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
		t.Fatalf("%s wrote to its inputs", x.name)
	}
}
