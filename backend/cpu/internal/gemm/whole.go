package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// Whole reports whether m×n matrices whose rows are ldc elements apart are whole
// panels of tiles, which MultiplyWhole computes.
func (p *MicroKernels[S, C]) Whole(m, n, ldc int) bool {
	return p.kernel.strips != nil && m%p.MR == 0 && n%p.NR == 0 && ldc%p.NR == 0
}

// A Scaling is what MultiplyWhole makes of sums; the zero value leaves them as they are.
type Scaling struct {
	Rows    []float32 // two factors for each row of c, one for before those of columns and one for after
	Columns []float32 // for each 32 columns their factors, and then what is added to them
}

// MultiplyWhole is Multiply, not accumulating, into a c of float32, or of uint16 for
// bits of bfloat16, that starts on a cache line. Of a sum of row i and column j in it
// is
//
//	c[i, j] = float32(sum) · row factor i · column factor j · last row factor i + column term j
//
// where each operation rounds to float32; bits of bfloat16 are then those of narrow.
// Unscaled, sums are float32 and c is of bfloat16; scaled, k is at least 1.
func MultiplyWhole[S Source, C Sum, D float32 | uint16](p *MicroKernels[S, C], r Run[S], by Scaling, c []D, ldc, m, n, k int) {
	scales, narrows := by.Rows != nil, memory.Size[D]() == memory.Size[uint16]()
	switch {
	case !p.Whole(m, n, ldc) || k%p.KU != 0 && r.Rows != nil:
		panic(fmt.Sprintf("gemm: %s: whole panels of %d×%d, ldc %d, k %d", p.Name, m, n, ldc, k))
	case scales && (len(by.Rows) < 2*m || len(by.Columns) < 2*n || k < 1), !scales && !narrows:
		panic(fmt.Sprintf("gemm: %s: %d×%d, k %d, scaled by %d and %d numbers", p.Name, m, n, k, len(by.Rows), len(by.Columns)))
	}
	c = extent(c, m, n, ldc)
	if nothing(c, ldc, m, n, k, false) {
		return
	}
	x := p.tilesBlock(r, m, n, 0, k, k)
	x.c, x.elementC, x.rowC = (*C)(unsafe.Pointer(&c[0])), memory.Size[D](), ldc*memory.Size[D]()
	x.by = scaling{unsafe.SliceData(by.Rows), unsafe.SliceData(by.Columns)}
	switch {
	case scales && narrows:
		x.way = streamScaledNarrowPast
	case scales:
		x.way = streamScaledPast
	default:
		x.way = streamNarrowPast
	}
	if r.Write != WriteNonTemporal {
		x.way++ // the same by way of the caches
	}
	x.run()
}
