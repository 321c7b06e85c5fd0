package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"matladder/internal/thoroughtest"
)

// A columnTwins is a column in assembly beside that of the tile's twin.
type columnTwins[C Sum] struct {
	twins[C]
	column column[C]
}

func columnsOf[C Sum](t testing.TB, tiles []twins[C], columns map[string]column[C]) []columnTwins[C] {
	t.Helper()
	var list []columnTwins[C]
	for _, x := range tiles {
		if columns[x.name] == nil {
			t.Fatal("no column of ", x.name)
		}
		if len(x.isa.Missing()) == 0 {
			list = append(list, columnTwins[C]{x, columns[x.name]})
		}
	}
	return list
}

func floatColumns(t testing.TB) []columnTwins[float32] {
	return columnsOf(t, floatTwins(t), map[string]column[float32]{
		"tileFloat32AVX2": columnFloat32AVX2, "tileFloat32AVX512": columnFloat32AVX512, "tileBFloat16AVX512": columnBFloat16AVX512,
	})
}

func intColumns(t testing.TB) []columnTwins[int32] {
	return columnsOf(t, intTwins(t), map[string]column[int32]{
		"tilePairsAVX2": columnPairsAVX2, "tilePairsVNNIAVX2": columnPairsVNNIAVX2, "tileQuadsAVX2": columnQuadsAVX2,
		"tilePairsAVX512": columnPairsAVX512, "tilePairsVNNIAVX512": columnPairsVNNIAVX512, "tileQuadsAVX512": columnQuadsAVX512,
	})
}

// TestColumn has runs that are short, that end within a turn of the loop, and that are
// so deep that c is asked for ahead of the last steps.
func TestColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	floats, ints := floatColumns(t), intColumns(t)
	run := thoroughtest.Choose(1, 5, 11)
	for _, steps := range []int{1, 3, 4, 7, 63, 64, 65, 319, 320, 321, 383, 384, 385, 513} {
		for _, panels := range []int{1, 2, 3, 4, 5, 9, 11} {
			if !run() {
				continue
			}
			for _, x := range floats {
				checkColumn(t, r, x, panels, steps)
			}
			for _, x := range ints {
				checkColumn(t, r, x, panels, steps)
			}
		}
	}
}

func FuzzColumn(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(3), uint16(9))
	f.Add(uint64(2), uint8(1), uint8(0), uint16(400))
	floats, ints := floatColumns(f), intColumns(f)
	if len(floats) == 0 {
		f.Skip("this machine has no column in assembly")
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, panels uint8, steps uint16) {
		r := rand.New(rand.NewPCG(seed, 33))
		p, s := 1+int(panels)%20, 1+int(steps)%600
		if i := int(which) % (len(floats) + len(ints)); i < len(floats) {
			checkColumn(t, r, floats[i], p, s)
		} else {
			checkColumn(t, r, ints[i-len(floats)], p, s)
		}
	})
}

// checkColumn compares the whole memory of c after the column and its twin. The last
// steps of a and b lie at the end of what may be read.
func checkColumn[C Sum](t *testing.T, r *rand.Rand, x columnTwins[C], panels, steps int) {
	t.Helper()
	const guard = 5
	mr, nr := x.mr, x.nr
	panel, rows, ldc := (steps+r.IntN(3))*mr, panels*mr, nr+r.IntN(4)
	a, b := fencedWords(t, r, (panels-1)*panel+steps*mr, x.word), fencedWords(t, r, steps*nr, x.word)
	c := fenced[C](t, guard+(rows-1)*ldc+nr)
	for i := range c {
		c[i] = C(r.IntN(2001) - 1000)
	}
	bias := randomBias[C](t, r, rows)
	want, accumulate := slices.Clone(c), r.IntN(2) == 0
	a0, b0 := slices.Clone(a), slices.Clone(b)
	columnTiles(mr, nr, x.twin)(&want[guard], ldc, steps, &a[0], &b[0], bias, 0, 0, panels, panel, accumulate)
	x.column(&c[guard], ldc, steps, &a[0], &b[0], bias, 0, 0, panels, panel, accumulate)
	sameMemory(t, c, want, guard, "%s, %d panels of %d steps, panel %d, bias %v, accumulate %v, ldc %d",
		x.name, panels, steps, panel, bias != nil, accumulate, ldc)
	if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
		t.Fatalf("%s wrote to its inputs", x.name)
	}
}
