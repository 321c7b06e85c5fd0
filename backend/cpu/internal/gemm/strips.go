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

// PanelStrips is the number of bytes of a strip.
func (p *MicroKernels[S, C]) PanelStrips(k int) int { return p.NR * k * memory.Size[S]() }

// PackStrips is PackBPart into strips.
func (p *MicroKernels[S, C]) PackStrips(dst []byte, strip int, src []S, ld, k, n int) {
	for j := 0; j < n; j += p.NR {
		to := memory.View[S](dst[j/p.NR*strip:])
		for l := range k {
			copy(to[l*p.NR:], src[l*ld+j:][:min(p.NR, n-j)])
		}
	}
}

// PackStripsT is PackBT into strips.
func (p *MicroKernels[S, C]) PackStripsT(dst []byte, src []S, ld, k, n int) {
	to := memory.View[S](dst)
	for j := range n {
		for l, v := range src[j*ld:][:k] {
			to[(j/p.NR*k+l)*p.NR+j%p.NR] = v
		}
	}
}

// MultiplyStrips is MultiplyPart by a b of strips, of a path that reads b by tiles.
func (p *MicroKernels[S, C]) MultiplyStrips(r Run[S], c []C, ldc, m, n, k0, k, depth int, accumulate bool) {
	b := memory.View[S](r.B)
	r.Far = false // a strip is read from end to end
	for j := 0; j < n; j += p.NR {
		p.MultiplyDirect(r, c[j:], ldc, m, min(p.NR, n-j), k, b[j*depth+k0*p.NR:], p.NR, accumulate)
	}
}
