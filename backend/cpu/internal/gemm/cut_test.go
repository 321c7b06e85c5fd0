package gemm

import "testing"

// TestCut: Block hands its micro-kernel runs and pieces as Cut says.
func TestCut(t *testing.T) {
	for _, isa := range Supported() {
		k := For(isa)
		cut(t, k.Float32)
		cut(t, k.BFloat16)
		cut(t, k.Int8)
	}
}

func cut[S Source, C Sum](t *testing.T, given *Path[S, C]) {
	p := *given
	for _, s := range [][2]int{{1, 1}, {70, 100}, {1000, 3000}, {3000, 500}} {
		m, k, n := s[0], s[1], 2*p.NR
		run, rows := 0, 0
		var panel *uint32 // of b, with the rows that met it so far
		met := 0
		see := func(b *uint32, steps, some int) {
			if b != panel {
				panel, met = b, 0
			}
			met += some
			run, rows = max(run, steps*p.KU), max(rows, met)
		}
		if given.kernel.strips != nil {
			p.kernel.strips = func(x *strip[C]) { see(x.b, x.steps, x.rows) }
		} else {
			p.kernel.tile = func(_ *C, _, steps int, _, b *uint32, _ *C, _ uintptr, some, _ int, _ bool) { see(b, steps, some) }
		}
		p.Block(make([]C, m*n), n, m, n, k, Buffer(p.SizeA(m, k)), Buffer(p.SizeB(k, n)), false)
		wantRun, wantRows := p.Cut(m, k)
		if run != wantRun || rows != min(wantRows, m) {
			t.Errorf("%s, m %d, k %d: runs of %d and pieces of %d rows; Cut says %d and %d", p.Name, m, k, run, rows, wantRun, wantRows)
		}
	}
}
