package gemm

import "math"

// A packer fills panels of width words from matrices of extent × k elements,
// extent being m for a and n for b.
type packer[S Source] struct {
	// rows: element l of lane i is src[i*ld+l].
	rows func(dst []uint32, src []S, ld, extent, k int)
	// columns: element l of lane i is src[l*ld+i]. Panels lie panel words apart: they
	// may be parts, along k, of deeper ones.
	columns func(dst []uint32, panel int, src []S, ld, extent, k int)
}

// An encoding turns one element into the low 32/ku bits of a word; zero is
// the word of elements that are all zero.
type encoding[S Source] struct {
	ku   int
	bits func(S) uint32
	zero uint32
}

// packGo packs in Go, one element at a time.
func packGo[S Source](width int, e encoding[S]) packer[S] {
	return panelByPanel(width, func(k int) int { return ceil(k, e.ku) * width },
		func(dst []uint32, src []S, laneStride, kStride, lanes, k int) {
			packElements(dst, src, laneStride, kStride, lanes, k, width, e)
		})
}

// panelByPanel packs width lanes at a time, to panels of so many words where they
// follow each other. Element l of lane i is src[i*laneStride+l*kStride].
func panelByPanel[S Source](width int, words func(k int) int, pack func(dst []uint32, src []S, laneStride, kStride, lanes, k int)) packer[S] {
	all := func(dst []uint32, panel int, src []S, laneStride, kStride, extent, k int) {
		for lane := 0; lane < extent && k > 0; lane += width {
			pack(dst[lane/width*panel:], src[lane*laneStride:], laneStride, kStride, min(width, extent-lane), k)
		}
	}
	return packer[S]{
		rows: func(dst []uint32, src []S, ld, extent, k int) {
			all(dst, words(k), src, ld, 1, extent, k)
		},
		columns: func(dst []uint32, panel int, src []S, ld, extent, k int) {
			all(dst, panel, src, 1, ld, extent, k)
		},
	}
}

// packElements packs a panel: element l of lane i comes from src[i*laneStride+l*kStride].
func packElements[S Source](dst []uint32, src []S, laneStride, kStride, lanes, k, width int, e encoding[S]) {
	if floats, ok := any(src).([]float32); ok {
		packFloats(dst, floats, laneStride, kStride, lanes, k, width)
		return
	}
	field := 32 / e.ku
	mask := uint32(1<<field - 1)
	for l := 0; l < k; l += e.ku {
		from := src[l*kStride:]
		if e.ku == 1 {
			for i := range lanes {
				dst[i] = e.bits(from[i*laneStride])
			}
		} else {
			for i := range lanes {
				w := e.zero
				for u := range min(e.ku, k-l) {
					w &^= mask << (u * field)
					w |= e.bits(from[i*laneStride+u*kStride]) & mask << (u * field)
				}
				dst[i] = w
			}
		}
		for i := lanes; i < width; i++ {
			dst[i] = e.zero
		}
		dst = dst[width:]
	}
}

// packFloats is packElements of elements that are words.
func packFloats(dst []uint32, src []float32, laneStride, kStride, lanes, k, width int) {
	for l := range k {
		to, from := dst[l*width:][:width], src[l*kStride:]
		if laneStride == 1 {
			copy(floats(to), from[:lanes])
		} else {
			for i := range lanes {
				to[i] = math.Float32bits(from[i*laneStride])
			}
		}
		clear(to[lanes:])
	}
}
