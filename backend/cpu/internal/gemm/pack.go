package gemm

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
	return packer[S]{
		rows: func(dst []uint32, src []S, ld, extent, k int) {
			packElements(dst, src, ld, 1, extent, k, width, e)
		},
		columns: func(dst []uint32, panel int, src []S, ld, extent, k int) {
			for lane := 0; lane < extent; lane += width {
				packElements(dst[lane/width*panel:], src[lane:], 1, ld, min(width, extent-lane), k, width, e)
			}
		},
	}
}

// packElements packs element l of lane i from src[i*laneStride+l*kStride].
func packElements[S Source](dst []uint32, src []S, laneStride, kStride, extent, k, width int, e encoding[S]) {
	field := 32 / e.ku
	mask := uint32(1<<field - 1)
	for lane := 0; lane < extent; lane += width {
		within := min(width, extent-lane)
		for l := 0; l < k; l += e.ku {
			from := src[lane*laneStride+l*kStride:]
			if e.ku == 1 {
				for i := range within {
					dst[i] = e.bits(from[i*laneStride])
				}
			} else {
				for i := range within {
					w := e.zero
					for u := range min(e.ku, k-l) {
						w &^= mask << (u * field)
						w |= e.bits(from[i*laneStride+u*kStride]) & mask << (u * field)
					}
					dst[i] = w
				}
			}
			for i := within; i < width; i++ {
				dst[i] = e.zero
			}
			dst = dst[width:]
		}
	}
}
