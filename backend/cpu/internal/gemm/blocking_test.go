package gemm

import (
	"matladder/backend/cpu/internal/memory"
	"testing"
)

// TestBlocking: Block hands its micro-kernels runs, pieces and parts as Blocking says.
func TestBlocking(t *testing.T) {
	for _, isa := range Supported() {
		k := For(isa)
		testBlocking(t, k.Float32)
		testBlocking(t, k.BFloat16)
		testBlocking(t, k.Int8)
		if k.TilesInt8 != nil {
			testBlocking(t, k.TilesBFloat16)
			testBlocking(t, k.TilesInt8)
		}
	}
}

func testBlocking[S Source, C Sum](t *testing.T, given *MicroKernels[S, C]) {
	p := *given
	for _, s := range [][3]int{{1, 9, 1}, {70, 100, 100}, {1000, 1300, 3000}, {3000, 100, 500}} {
		m, n, k := s[0], s[1], s[2]
		run, rows, cols := 0, 0, 0
		if p.kernel.strips != nil {
			var a *uint32 // first panel of a piece, with the columns that met it so far
			met := 0
			p.kernel.strips = func(x *strip[C]) {
				if x.a != a {
					a, met = x.a, 0
				}
				met += x.cols
				run, rows, cols = max(run, x.steps*p.KU), max(rows, x.rows), max(cols, met)
			}
		} else {
			p.kernel.column = nil // which hands on what it is given, to its own tiles
			var panel *uint32     // of b, with the rows that met it so far
			met := 0
			cols = n
			p.kernel.tile = func(_ *C, _, steps int, _, b *uint32, _ *C, _ uintptr, some, _ int, _ bool) {
				if b != panel {
					panel, met = b, 0
				}
				met += some
				run, rows = max(run, steps*p.KU), max(rows, met)
			}
		}
		p.Block(make([]C, m*n), n, m, n, k, memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n)), false)
		wantRun, wantRows, wantCols := p.Blocking(m, n, k)
		if run != wantRun || rows != min(wantRows, m) || cols != min(wantCols, n) {
			t.Errorf("%s, %d×%d×%d: runs of %d, pieces of %d rows and parts of %d columns; Blocking says %d, %d and %d",
				p.Name, m, k, n, run, rows, cols, wantRun, wantRows, wantCols)
		}
	}
}
