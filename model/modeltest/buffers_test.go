package modeltest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBuffered: cases worked out by hand, and that of two programs the one with more
// buffers is never slower; nothing beats what computes, nor what moves.
func TestBuffered(t *testing.T) {
	even := []Turn{{2, 2, 0}, {2, 2, 0}, {2, 2, 0}, {2, 2, 0}}
	uneven := []Turn{{1, 2, 0}, {1, 2, 0}, {5, 2, 0}, {1, 2, 0}, {1, 2, 0}, {1, 2, 0}}
	written := []Turn{{1, 1, 2}, {1, 1, 2}}
	for _, c := range []struct {
		turns   []Turn
		buffers int
		want    float64
	}{
		{nil, 2, 0},
		{even, 1, 16}, // one after the other
		{even, 2, 10}, // the first waits
		{even, 3, 10}, // no more to win
		{uneven, 1, 1 + 2 + 1 + 2 + 5 + 2 + 1 + 2 + 1 + 2 + 1 + 2},
		{uneven, 2, 16},             // asked for at 3, the third has come at 8: 3 lost
		{uneven, 3, 15},             // asked for at 1, behind the second: come at 7
		{written, 2, 1 + 1 + 2 + 2}, // the second came while the first computed; memory sends both away
	} {
		if got := Buffered(c.turns, c.buffers); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %d buffers: %v, want %v", c.turns, c.buffers, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		turns := make([]Turn, 1+r.IntN(12))
		compute, moved := 0., 0.
		for i := range turns {
			turns[i] = Turn{In: float64(r.IntN(4)), Compute: float64(r.IntN(4))}
			compute, moved = compute+turns[i].Compute, moved+turns[i].In
		}
		last := math.Inf(1)
		for n := 1; n <= 4; n++ {
			got := Buffered(turns, n)
			if got > last || got < max(compute, moved) || got > compute+moved {
				t.Fatalf("%v: %v with %d buffers, %v with one less", turns, got, n, last)
			}
			last = got
		}
	}
}
