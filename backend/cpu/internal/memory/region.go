package memory

// Region is a part of some memory, on a boundary of a cache line.
type Region struct{ off, Size int }

func (r Region) Of(mem []byte) []byte { return mem[r.off : r.off+r.Size : r.off+r.Size] }

// Space hands out regions one after another.
type Space struct{ Size int }

func (s *Space) Region(n int) Region {
	r := Region{s.Size, n}
	s.Size += (n + CacheLine - 1) / CacheLine * CacheLine
	return r
}

const CacheLine = 64 // bytes
