// Package memory has what lies behind arrays and buffers: pages, regions of them, and views of
// them as elements.
package memory

import "unsafe"

// Region is a part of some memory, on a boundary of a cache line.
type Region struct{ off, Size int }

// Of is the region's part of mem.
func (r Region) Of(mem []byte) []byte { return mem[r.off : r.off+r.Size : r.off+r.Size] }

// Space hands out regions one after another.
type Space struct{ Size int }

// Region is the next n bytes.
func (s *Space) Region(n int) Region {
	r := Region{s.Size, n}
	s.Size += (n + CacheLine - 1) / CacheLine * CacheLine
	return r
}

// CacheLine is the bytes of one.
const CacheLine = 64

// View reinterprets memory that is aligned for T.
func View[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/Size[T]())
}

// BytesOf is the memory of x.
func BytesOf[T any](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*Size[T]())
}

// Fill sets all of x to v, in copies that double.
func Fill[T any](x []T, v T) {
	if len(x) == 0 {
		return
	}
	x[0] = v
	for n := 1; n < len(x); n *= 2 {
		copy(x[n:], x[:n])
	}
}

// Size is the bytes of a T.
func Size[T any]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// hugePage is the size of the large pages of amd64 and arm64.
const hugePage = 2 << 20

// NewBuffer returns n zeroed bytes on a boundary of a cache line; many are on large pages,
// where the system has them.
func NewBuffer(n int) []byte {
	boundary := CacheLine
	if n >= 2*hugePage && AsksForHugePages {
		boundary = hugePage
	}
	b := make([]byte, n+boundary)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(boundary-1))
	b = b[off : off+n : off+n]
	if boundary == hugePage {
		adviseHuge(b[:n/hugePage*hugePage])
	}
	return b
}

// A Prefetch is memory that will soon be read, asked for bit by bit by those who still work on
// something else: all at once it would be more than a core waits for at a time. It comes into
// L2: in L1 it would take the place of what is worked on.
type Prefetch struct {
	left []byte
	part int // bytes at a time, whole cache lines
}

// NewPrefetch is b in about so many parts.
func NewPrefetch(b []byte, parts int) Prefetch {
	return Prefetch{b, (len(b)/max(parts, 1) + CacheLine) / CacheLine * CacheLine}
}

// Ask asks for the next part, which the caller does not wait for.
func (p *Prefetch) Ask() {
	if b := p.Next(); len(b) > 0 {
		prefetch(&b[0], (len(b)+CacheLine-1)/CacheLine)
	}
}

// Next is the next part, for who asks for it.
func (p *Prefetch) Next() []byte {
	b := p.left[:min(p.part, len(p.left))]
	p.left = p.left[len(b):]
	return b
}
