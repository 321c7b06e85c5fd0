package tiletest

// source turns bytes into choices. When they run out every choice is the first
// one, so each prefix of the data is a program too.
type source struct{ data []byte }

func (s *source) next() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b)
}

// below returns a number in 0 … n-1.
func (s *source) below(n int) int { return s.next() % n }

// between returns a number in lo … hi.
func (s *source) between(lo, hi int) int { return lo + s.below(hi-lo+1) }

// rarely is true for one byte in sixteen: it makes the mistakes.
func (s *source) rarely() bool { return s.next()%16 == 15 }

// often is true for three bytes in four.
func (s *source) often() bool { return s.next()%4 != 3 }

func pick[T any](s *source, from ...T) T { return from[s.below(len(from))] }
