package gemm

import "matladder/backend/cpu/internal/memory"

// StripRows is the number of rows of a up to which a b of strips is faster than one of panels; 0 if
// it never is. Strips are panels of elements as they lie in memory: half the bytes where panels are
// of widened ones. Register tiles go down them, and ask for them far ahead.
func (p *MicroKernels[S, C]) StripRows() int {
	switch {
	case p.KU > 1 || p.direct.tiles == nil:
		return 0
	case memory.Size[S]() == wordBytes:
		return 4
	}
	return 64
}

// StripColumns is how wide strips for some rows of a are: as wide as the tile that is used.
func (p *MicroKernels[S, C]) StripColumns(rows int) int {
	tile, _ := p.direct.of(rows, AllRows, edgeSteps)
	return tile.cols
}

// PackStrips is PackBPart into strips of some columns, which lie apart bytes apart.
func PackStrips[S Source](dst []byte, apart, columns int, src []S, ld, k, n int) {
	for j := 0; j < n; j += columns {
		to := memory.View[S](dst[j/columns*apart:])
		for l := range k {
			copy(to[l*columns:], src[l*ld+j:][:min(columns, n-j)])
		}
	}
}

// PackStripsT is PackBT into strips of some columns.
func PackStripsT[S Source](dst []byte, columns int, src []S, ld, k, n int) {
	to := memory.View[S](dst)
	for j := range n {
		for l, v := range src[j*ld:][:k] {
			to[(j/columns*k+l)*columns+j%columns] = v
		}
	}
}

// ReadStrips has tiles go down strips from end to end.
var ReadStrips = Choices{B: ReadTiles, Run: AllRows}

// MultiplyStrips is MultiplyPart by a b of strips of some columns, of a path with the choices
// of ReadStrips.
func (p *MicroKernels[S, C]) MultiplyStrips(columns int, r Run[S], c []C, ldc, m, n, k0, k, depth int, accumulate bool) {
	b := memory.View[S](r.B)
	r.Far = true // so tiles ask for what is ahead
	for j := 0; j < n; j += columns {
		p.MultiplyDirect(r, c[j:], ldc, m, min(columns, n-j), k, b[j*depth+k0*columns:], columns, accumulate)
	}
}
