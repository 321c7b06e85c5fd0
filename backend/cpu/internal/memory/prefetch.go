package memory

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
	if n := min(p.part, len(p.left)); n > 0 {
		prefetch(&p.left[0], (n+CacheLine-1)/CacheLine)
		p.left = p.left[n:]
	}
}
