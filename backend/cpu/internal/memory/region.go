// Package memory has what lies behind arrays and buffers: pages, regions of them, and views of
// them as elements.
package memory

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
