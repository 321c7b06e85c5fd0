package gemm

import "unsafe"

// Routines in assembly, as told in pack_amd64.go.
type (
	packRows    func(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)
	packColumns func(dst *uint32, src unsafe.Pointer, ld, steps int)
)

// packSIMD packs whole squares and panels by vectors and leaves what remains
// at the edges to packElements. A panel is as wide as lanes or a multiple of
// it; rows works on vector steps at a time. columns is nil where the panel is
// not two vectors wide.
type packSIMD[S Source] struct {
	encoding[S]
	width, lanes, vector int
	rows                 packRows
	columns              packColumns
}

func (p packSIMD[S]) packer() packer[S] {
	return packer[S]{rows: p.packRows, columns: p.packColumns}
}

func (p packSIMD[S]) packRows(dst []uint32, src []S, ld, extent, k int) {
	blocks := k / (p.ku * p.vector)
	whole := blocks * p.vector // steps
	panel := ceil(k, p.ku) * p.width
	for lane := 0; lane < extent; lane += p.width {
		within := min(p.width, extent-lane)
		if blocks > 0 {
			for i := 0; i < p.width; i += p.lanes {
				from := min(lane+i, extent-1)
				p.rows(&dst[i], at(src, from*ld), ld*size[S](), p.width, max(0, within-i), blocks)
			}
		}
		if rest := whole * p.ku; rest < k {
			packElements(dst[whole*p.width:], src[lane*ld+rest:], ld, 1, within, k-rest, p.width, p.encoding)
		}
		dst = dst[panel:]
	}
}

func (p packSIMD[S]) packColumns(dst []uint32, src []S, ld, extent, k int) {
	// A few rows at a time, all panels: src is read along its rows.
	const steps = 16
	panel := ceil(k, p.ku) * p.width
	whole, lanes := 0, 0
	if p.columns != nil {
		whole, lanes = k/p.ku, extent/p.width*p.width
	}
	for l := 0; l < whole; l += steps {
		for lane := 0; lane < lanes; lane += p.width {
			p.columns(&dst[lane/p.width*panel+l*p.width], at(src, l*p.ku*ld+lane), ld*size[S](), min(steps, whole-l))
		}
	}
	if rest := whole * p.ku; rest < k {
		for lane := 0; lane < lanes; lane += p.width {
			packElements(dst[lane/p.width*panel+whole*p.width:], src[rest*ld+lane:], 1, ld, p.width, k-rest, p.width, p.encoding)
		}
	}
	if lanes < extent && k > 0 {
		packElements(dst[lanes/p.width*panel:], src[lanes:], 1, ld, extent-lanes, k, p.width, p.encoding)
	}
}

func at[S any](s []S, i int) unsafe.Pointer { return unsafe.Pointer(&s[i]) }

func size[S any]() int {
	var s S
	return int(unsafe.Sizeof(s))
}
