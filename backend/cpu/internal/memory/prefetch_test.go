package memory

import "testing"

// TestPrefetch: memory is asked for in about as many parts as are told, each of whole cache lines,
// to its end and not beyond.
func TestPrefetch(t *testing.T) {
	for _, c := range []struct{ bytes, parts, asks int }{
		{0, 3, 0}, {1, 3, 1}, {64, 1, 1}, {640, 3, 3}, {8192, 12, 12}, {8192, 0, 1}, {100, 1000, 2},
	} {
		b := make([]byte, c.bytes)
		s, asks := NewPrefetch(b, c.parts), 0
		for len(s.left) > 0 {
			was := len(s.left)
			s.Ask()
			if asks++; was-len(s.left) > s.part || s.part%CacheLine != 0 {
				t.Fatalf("%d bytes in %d parts: one of %d", c.bytes, c.parts, was-len(s.left))
			}
		}
		if s.Ask(); asks != c.asks {
			t.Errorf("%d bytes in %d parts take %d, should be %d", c.bytes, c.parts, asks, c.asks)
		}
	}
}
