package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A rowsTwins is a rowsKernel in assembly beside the twin of its tile.
type rowsTwins[C Sum] struct {
	twins[C]
	rows rowsKernel[C]
}

// rowsTwinsOf are those of this machine, of the tiles that have one.
func rowsTwinsOf[C Sum](tiles []twins[C], kernels map[string]rowsKernel[C]) (list []rowsTwins[C]) {
	for _, x := range tiles {
		if k, ok := kernels[x.name]; ok && len(x.isa.Missing()) == 0 {
			list = append(list, rowsTwins[C]{x, k})
		}
	}
	return list
}

func rowsKernels(t testing.TB) ([]rowsTwins[float32], []rowsTwins[int32]) {
	floats := rowsTwinsOf(floatTwins(t), map[string]rowsKernel[float32]{
		"tileFloat32AVX2":    {rowsFloat32AVX2, columnRowsFloat32AVX2, true, nil},
		"tileFloat32AVX512":  {rowsFloat32AVX512, columnRowsFloat32AVX512, false, nil},
		"tileBFloat16AVX512": {rowsBFloat16AVX512, columnRowsBFloat16AVX512, false, nil},
	})
	if len(floats) == 0 {
		t.Skip("this machine has no tile in assembly")
	}
	return floats, rowsTwinsOf(intTwins(t), map[string]rowsKernel[int32]{
		"tileQuadsAVX2":   {rowsQuadsAVX2, columnRowsQuadsAVX2, true, rowsBiasAVX2},
		"tileQuadsAVX512": {rowsQuadsAVX512, columnRowsQuadsAVX512, false, rowsBiasAVX512},
	})
}

func TestRows(t *testing.T) {
	floats, ints := rowsKernels(t)
	for _, x := range floats {
		testRows(t, x)
	}
	for _, x := range ints {
		testRows(t, x)
	}
}

func testRows[C Sum](t *testing.T, x rowsTwins[C]) {
	t.Run(x.name, func(t *testing.T) {
		r := rand.New(rand.NewPCG(41, 42))
		for rows := 1; rows <= x.mr; rows++ {
			for steps := 1; steps < 20; steps++ {
				x.check(t, r, rows, 1+r.IntN(x.nr), steps)
			}
		}
		for cols := 1; cols <= x.nr; cols++ {
			x.check(t, r, 1+r.IntN(x.mr), cols, 1+r.IntN(200))
		}
		for _, steps := range []int{1, 3, 4, 7, 63, 64, 65, 128, 321} {
			for panels := 1; panels <= 5; panels++ {
				x.check(t, r, panels*x.mr, x.nr, steps)
			}
		}
	})
}

func FuzzRows(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(3), uint8(9), uint16(5))
	f.Add(uint64(2), uint8(1), uint8(11), uint8(0), uint16(400))
	f.Add(uint64(3), uint8(3), uint8(6), uint8(16), uint16(77))
	f.Add(uint64(4), uint8(4), uint8(7), uint8(31), uint16(130))
	floats, ints := rowsKernels(f)
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, cols uint8, steps uint16) {
		if i := int(which) % (len(floats) + len(ints)); i < len(floats) {
			floats[i].fuzz(t, seed, int(rows), int(cols), int(steps))
		} else {
			ints[i-len(floats)].fuzz(t, seed, int(rows), int(cols), int(steps))
		}
	})
}

func (x rowsTwins[C]) fuzz(t *testing.T, seed uint64, rows, cols, steps int) {
	x.check(t, rand.New(rand.NewPCG(seed, 43)), 1+rows%x.mr, 1+cols%x.nr, 1+steps%500)
	x.check(t, rand.New(rand.NewPCG(seed, 44)), (1+rows%9)*x.mr, x.nr, 1+steps%500)
}

// check compares a tile, or a column of whole ones, with its twin. The last row of a and
// the last step of b lie at the end of what may be read.
func (x rowsTwins[C]) check(t *testing.T, r *rand.Rand, rows, cols, steps int) {
	t.Helper()
	const guard = 5
	lda, ldc := steps+r.IntN(3), cols+r.IntN(4)
	a, b := fencedWords(t, r, (rows-1)*lda+steps, x.word), fencedWords(t, r, steps*x.nr, x.word)
	c := fenced[C](t, guard+(rows-1)*ldc+cols)
	for i := range c {
		c[i] = C(r.IntN(2001) - 1000)
	}
	want, accumulate := slices.Clone(c), r.IntN(2) == 0
	a0, b0 := slices.Clone(a), slices.Clone(b)
	twin, bias := rowsTiles(x.mr, x.twin), randomBias[C](t, r, rows+x.mr)
	if panels := rows / x.mr; rows%x.mr == 0 && cols == x.nr {
		rowsColumns(x.mr, x.nr, twin)(&want[guard], ldc, steps, &a[0], lda*wordBytes, &b[0], bias, 0, 0, panels, accumulate)
		x.rows.column(&c[guard], ldc, steps, &a[0], lda*wordBytes, &b[0], bias, 0, 0, panels, accumulate)
	} else {
		twin(&want[guard], ldc, steps, &a[0], lda*wordBytes, &b[0], bias, 0, rows, cols, accumulate)
		x.rows.tileOf(&c[guard], ldc, steps, &a[0], lda*wordBytes, &b[0], bias, 0, rows, cols, accumulate)
	}
	sameMemory(t, c, want, guard, "%s, %d×%d over %d steps, lda %d, ldc %d, bias %v, accumulate %v",
		x.name, rows, cols, steps, lda, ldc, bias != nil, accumulate)
	if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
		t.Fatalf("%s wrote to its inputs", x.name)
	}
}
