package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An edgeTwins is an edge in assembly beside that of the tile's twin.
type edgeTwins[C Sum] struct {
	twins[C]
	edge edge[C]
}

// edges returns those of this machine.
func edges(t testing.TB) (floats []edgeTwins[float32], ints []edgeTwins[int32]) {
	for _, x := range floatTwins(t) {
		if x.name == "tileBFloat16AVX512" {
			x.word = smallPairs
		}
		floats = addEdge(floats, x, map[string]edge[float32]{
			"tileFloat32AVX2": edgeFloat32AVX2, "tileFloat32AVX512": edgeFloat32AVX512, "tileBFloat16AVX512": edgeBFloat16AVX512,
		})
	}
	for _, x := range intTwins(t) {
		ints = addEdge(ints, x, map[string]edge[int32]{"tilePairsAVX2": edgePairsAVX2})
	}
	return floats, ints
}

func addEdge[C Sum](list []edgeTwins[C], x twins[C], edges map[string]edge[C]) []edgeTwins[C] {
	if edges[x.name] == nil || len(x.isa.Missing()) > 0 {
		return list
	}
	return append(list, edgeTwins[C]{x, edges[x.name]})
}

// smallPairs make sums exact, which edges add in another order than their twins.
func smallPairs(r *rand.Rand) uint32 {
	return uint32(smallBFloat16(r)) | uint32(smallBFloat16(r))<<16
}

func TestEdge(t *testing.T) {
	floats, ints := edges(t)
	if len(floats) == 0 {
		t.Skip("this machine has no edge in assembly")
	}
	for _, x := range floats {
		testEdge(t, x)
	}
	for _, x := range ints {
		testEdge(t, x)
	}
}

func testEdge[C Sum](t *testing.T, x edgeTwins[C]) {
	t.Run(x.name, func(t *testing.T) {
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
	for kind := range uint8(4) {
		f.Add(uint64(kind), kind, uint8(60), kind, uint8(9))
		f.Add(uint64(kind), kind, uint8(5), kind, uint8(0))
	}
	floats, ints := edges(f)
	if len(floats) == 0 {
		f.Skip("this machine has no edge in assembly")
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind, rows, cols, steps uint8) {
		r := rand.New(rand.NewPCG(seed, 25))
		m, n, k := 1+int(rows), 1+int(cols)%edgeCols, 1+int(steps)
		if i := int(kind) % (len(floats) + len(ints)); i < len(floats) {
			checkEdge(t, r, floats[i], m, n, k)
		} else {
			checkEdge(t, r, ints[i-len(floats)], m, n, k)
		}
	})
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
	edgeTiles(x.mr, x.twin)(&want[guard], ldc, 0, rows, cols, &a[0], panel, steps, &b[0], accumulate)
	x.edge(&c[guard], ldc, 0, rows, cols, &a[0], panel, steps, &b[0], accumulate)
	sameMemory(t, c, want, guard, "%s, %d×%d of %d steps, panel %d, accumulate %v, ldc %d",
		x.name, rows, cols, steps, panel, accumulate, ldc)
	if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
		t.Fatalf("%s wrote to its inputs", x.name)
	}
}
