package model

import (
	"cmp"

	"matladder/machine"
	"matladder/tile"
)

// VMEM is the fast memory of a core, and what a compiler does with it.
type VMEM struct {
	Bytes    int64             // 0 if unknown
	Granted  int64             // of Bytes, what a program has unless more is requested; 0 for all
	Prefetch machine.Prefetch  // of the largest input; zero if there is none
	Core     *machine.Pipeline // nil if unknown
}

// Request returns the bytes of fast memory to request from the compiler for programs of a
// footprint (0: its default), the limit that they have then (0 where none is known), and
// whether the largest input is prefetched beside them. Programs that may not request any keep
// to what is granted, and nothing is prefetched for them. All who compile kernels go by it, so
// that a block shape that was tuned fits where it is measured.
func (v VMEM) Request(f Footprint, may bool) (bytes, limit int64, prefetched bool) {
	if may {
		bytes, prefetched = v.request(f)
	}
	return bytes, cmp.Or(bytes, v.Granted), prefetched
}

// Fits reports whether programs of a footprint have enough fast memory; may says that they
// may request more than is granted.
func (v VMEM) Fits(f Footprint, may bool) bool {
	bytes, prefetched := v.request(f)
	return (may || bytes == 0) && v.taken(f, prefetched) <= cmp.Or(bytes, v.Granted, v.Bytes)
}

// request is Request of programs that may: there may be room for a prefetched input beside
// what is requested, which may be less than is granted.
func (v VMEM) request(f Footprint) (bytes int64, prefetched bool) {
	granted, most := v.Granted, v.Bytes/16*15
	if granted == 0 || granted > most {
		granted, most = v.Bytes, v.Bytes
	}
	left := most - f.Largest
	if v.Prefetch.Apart {
		left = most
	}
	switch {
	case v.prefetches(f, granted) && v.taken(f, true) <= granted:
		return 0, true
	case most > granted && v.prefetches(f, left) && v.taken(f, true) <= left:
		return left, true
	case v.taken(f, false) <= granted || most == granted:
		return 0, v.prefetches(f, granted)
	}
	return most, v.prefetches(f, most)
}

// prefetches reports whether the largest input is prefetched beside programs that may take
// limit bytes of fast memory.
func (v VMEM) prefetches(f Footprint, limit int64) bool {
	const hardly = 8 << 20
	bytes, room := f.Largest, v.Prefetch.Bytes
	if !v.Prefetch.Apart {
		room -= limit
	}
	return bytes > 0 && bytes < room && (!v.Prefetch.Keeps || 2*bytes < room || room-bytes <= hardly)
}

// taken is what programs take of fast memory, no less than what libtpu 0.0.51 says where its
// limit is too low: blocks and scratch, and of a product
//
//   - registers of a as the matrix units take them, all of a step's, unless each is met by all
//     columns at one time: two tiles of bfloat16 make one, and so do halves of what is widened;
//   - sums on their way, of as many columns as a row meets at one time;
//   - what it needs for itself, less than 2 MiB.
//
// A prefetched input is read in place, unless blocks end inside of its rows: these are copied.
// Of programs that do more than to multiply it is not known so well.
func (v VMEM) taken(f Footprint, prefetched bool) int64 {
	const own = 2 << 20
	blocks, inPlace := f.Bytes, prefetched && !v.Prefetch.Apart
	if inPlace && !f.Cut {
		blocks = f.Without
	}
	s, wide := f.Product, int64(tile.BFloat16.Bits())
	if s == (tile.Blocks{}) || v.Core == nil {
		blocks += blocks / 4
		if inPlace {
			blocks += f.Block * max(1, wide/int64(f.Dtype.Bits()))
		}
		return blocks
	}
	var kept int64
	narrow := int64(f.Dtype.Bits()) < wide && v.Core.Rates[f.Dtype] > v.Core.Rates[tile.BFloat16]
	if int64(f.Dtype.Bits()) <= wide && !narrow && s.N != v.Core.Pass {
		kept = tile.BFloat16.Bytes(int64(s.M) * int64(s.K))
	}
	return blocks + kept + tile.Float32.Bytes(int64(s.M)*int64(v.Core.Pass)) + own
}
