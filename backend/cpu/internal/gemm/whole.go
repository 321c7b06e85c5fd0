package gemm

import (
	"fmt"
	"unsafe"
)

// Whole reports whether m×n matrices whose rows are ldc elements apart are whole
// panels of tiles, which MultiplyNarrow, of float sums, and MultiplyScaled compute.
func (p *Path[S, C]) Whole(m, n, ldc int) bool {
	return p.kernel.strips != nil && m%p.MR == 0 && n%p.NR == 0 && ldc%p.NR == 0
}

// MultiplyNarrow is Multiply, not accumulating, into a c of bfloat16 that starts on
// a cache line: each sum is rounded once, as narrow does.
func (p *Path[S, C]) MultiplyNarrow(r Run[S], c []uint16, ldc, m, n, k int) {
	way := streamNarrow
	if r.Write == WriteNonTemporal {
		way = streamNarrowPast
	}
	multiplyWhole(p, r, scaling{}, way, c, ldc, m, n, k)
}

// A Scaling is what MultiplyScaled makes of sums.
type Scaling struct {
	Rows    []float32 // a factor for each row of c
	Columns []float32 // for each 32 columns their factors, and then what is added to them
}

// MultiplyScaled is Multiply, not accumulating, into a c of float32, or of uint16 for
// bits of bfloat16, that starts on a cache line. Of a sum of row i and column j in it
// is
//
//	c[i, j] = (float32(sum) · row factor i) · column factor j + column term j
//
// where each operation rounds to float32; bits of bfloat16 are then those of narrow.
// k is at least 1.
func MultiplyScaled[S Source, C Sum, D float32 | uint16](p *Path[S, C], r Run[S], by Scaling, c []D, ldc, m, n, k int) {
	if len(by.Rows) < m || len(by.Columns) < 2*n || k < 1 {
		panic(fmt.Sprintf("gemm: %s: %d×%d, k %d, scaled by %d and %d numbers", p.Name, m, n, k, len(by.Rows), len(by.Columns)))
	}
	way := streamScaled
	switch isNarrow, past := size[D]() == size[uint16](), r.Write == WriteNonTemporal; {
	case isNarrow && past:
		way = streamScaledNarrowPast
	case isNarrow:
		way = streamScaledNarrow
	case past:
		way = streamScaledPast
	}
	multiplyWhole(p, r, scaling{unsafe.SliceData(by.Rows), unsafe.SliceData(by.Columns)}, way, c, ldc, m, n, k)
}

// multiplyWhole writes whole panels of c in one way.
func multiplyWhole[S Source, C Sum, D float32 | uint16](p *Path[S, C], r Run[S], by scaling, way streaming, c []D, ldc, m, n, k int) {
	if !p.Whole(m, n, ldc) || k%p.KU != 0 && r.Rows != nil {
		panic(fmt.Sprintf("gemm: %s: whole panels of %d×%d, ldc %d, k %d", p.Name, m, n, ldc, k))
	}
	c = extent(c, m, n, ldc)
	if len(c) == 0 {
		return
	}
	if k == 0 {
		clearBlock(c, ldc, m, n)
		return
	}
	x := p.tilesBlock(r, m, n, 0, k, k)
	x.c, x.elementC, x.rowC = (*C)(unsafe.Pointer(&c[0])), size[D](), ldc*size[D]()
	x.way, x.by = way, by
	x.run()
}
