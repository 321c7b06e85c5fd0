package memory

// A Stream is memory that will soon be read, asked for bit by bit by those who still work on
// something else: all at once it would be more than a core waits for at a time.
type Stream struct {
	left []byte
	part int // bytes at a time, whole cache lines
}

// NewStream is b in about so many parts.
func NewStream(b []byte, parts int) Stream {
	return Stream{b, (len(b)/max(parts, 1) + CacheLine) / CacheLine * CacheLine}
}

// Ask asks for the next part, which the caller does not wait for.
func (s *Stream) Ask() {
	if n := min(s.part, len(s.left)); n > 0 {
		prefetch(&s.left[0], (n+CacheLine-1)/CacheLine)
		s.left = s.left[n:]
	}
}
