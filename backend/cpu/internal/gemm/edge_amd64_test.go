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
	word       func(*rand.Rand) uint32
}

const edgeMR = 6

var (
	edgeFloats = edgeTwins[float32]{"float32", edgeFloat32AVX2, edgeTiles(edgeMR, tileFloat32(edgeMR, 16)), smallFloat}
	edgePairs  = edgeTwins[int32]{"pairs", edgePairsAVX2, edgeTiles(edgeMR, tilePairs(edgeMR, 16)), bytePairs}
)

func TestEdge(t *testing.T) {
	testEdge(t, edgeFloats)
	testEdge(t, edgePairs)
}

func testEdge[C Sum](t *testing.T, x edgeTwins[C]) {
	t.Run(x.name, func(t *testing.T) {
		skipWithoutAVX2(t)
		r := rand.New(rand.NewPCG(23, 24))
		for cols := 1; cols <= edgeCols; cols++ {
			for rows := 1; rows <= 9*edgeMR+1; rows++ {
				checkEdge(t, r, x, rows, cols, 1+r.IntN(11))
			}
			for steps := 1; steps <= 40; steps++ {
				checkEdge(t, r, x, 1+r.IntN(5*edgeMR), cols, steps)
			}
		}
	})
}

func FuzzEdge(f *testing.F) {
	skipWithoutAVX2(f)
	for cols := range uint8(edgeCols) {
		f.Add(uint64(cols), false, uint8(60), cols, uint8(9))
		f.Add(uint64(cols), true, uint8(5), cols, uint8(0))
	}
	f.Fuzz(func(t *testing.T, seed uint64, pairs bool, rows, cols, steps uint8) {
		r := rand.New(rand.NewPCG(seed, 25))
		m, n, k := 1+int(rows), 1+int(cols)%edgeCols, 1+int(steps)
		if pairs {
			checkEdge(t, r, edgePairs, m, n, k)
		} else {
			checkEdge(t, r, edgeFloats, m, n, k)
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
	panel := (steps + r.IntN(3)) * edgeMR
	a, b := fencedWords(t, r, (ceil(rows, edgeMR)-1)*panel+steps*edgeMR, x.word), fencedWords(t, r, steps*16, x.word)
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
