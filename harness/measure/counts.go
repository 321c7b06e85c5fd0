package measure

import (
	"context"
	"math/bits"
	"time"

	"matladder/backend"
	"matladder/results"
)

// Shortest is how long a repetition lasts at least: launches are repeated until clock
// and dispatch no longer matter.
const Shortest = 5 * time.Millisecond

// LongestSettling is how long a launch may take for launches to be run, untimed, ahead
// of a repetition; what waking up costs is nothing beside longer ones.
const LongestSettling = 25 * time.Millisecond

// maxLaunches bounds the launches of a repetition.
const maxLaunches = 1 << 20

// Counts say how a repetition of an executable is made.
type Counts struct {
	Launches int           // of one repetition, the shorter one of a loop; 0 until calibrated
	Longer   int           // of the longer repetition of a loop; 0 for other methods
	Each     time.Duration // about what a launch takes
	Settling int           // untimed launches ahead of each repetition
}

// Expect has launches take each: a repetition is the fewest, a power of two, that last long
// enough. Those of a loop stay as they are.
func (c *Counts) Expect(each time.Duration) {
	c.Each = each
	if c.Longer == 0 {
		c.Launches = 1 << bits.Len64(uint64((Shortest-1)/max(1, each)))
	}
}

// Halved are the counts of repetitions that are half as long so many times over, but no shorter
// than a launch, and of loops as long as they were. As many launches go ahead untimed: a thread
// needs as long to wake up, and to come to a core of its own, whatever is timed then.
func (c Counts) Halved(times int) Counts {
	if c.Longer == 0 && c.Launches > 0 {
		c.Launches = max(1, c.Launches>>times)
	}
	return c
}

// All are the launches of the repetitions that belong together.
func (c Counts) All() []int {
	if c.Longer > 0 {
		return []int{c.Launches, c.Longer}
	}
	return []int{c.Launches}
}

// Calibrate sets launches to the power of two at which a repetition is long enough, so
// that runs of the same machine mostly agree on about the number.
func (l Limits) Calibrate(ctx context.Context, exe backend.Executable) (Counts, error) {
	for n := 1; ; {
		s, err := l.Launch(ctx, exe, n)
		if err != nil {
			return Counts{}, err
		}
		slow := n > 1 && s.Outside >= 100*Shortest // or its clock is: a repetition will tell
		if s.Elapsed >= Shortest || slow || n >= maxLaunches {
			c := Counts{Launches: n, Each: s.Elapsed / time.Duration(n)}
			if Loops(s) {
				c.Launches, c.Longer = LoopCounts(n)
			} else if c.Each <= LongestSettling {
				c.Settling = n
			}
			return c, nil
		}
		need := n * 16
		if s.Elapsed > 0 {
			need = min(need, int(float64(n)*float64(Shortest)/float64(s.Elapsed)))
		}
		n = min(maxLaunches, max(2*n, 1<<bits.Len(uint(need))))
	}
}

// Loops reports whether a sample is of a program that loops on the device.
func Loops(s backend.Sample) bool { return results.Method(s.Method) == results.Loop }

// LoopCounts are the two numbers of launches at which a program that loops on the device
// is timed, each a repetition of its own, where launches are long enough for one: the
// slope is the time of a launch, and what it takes to start a program cancels.
//
// Noise in proportion to a time reaches the slope √(r²+1)/(r-1)-fold where the longer
// count is r times the shorter: 1.15-fold for r = 8, 1.58-fold for r = 3, which is what
// launches get that are too long to run many.
func LoopCounts(launches int) (shorter, longer int) {
	const few = 8
	if launches < few {
		return launches, 3 * launches
	}
	return launches / 4, launches / 4 * 8
}

// Slope is the time of a launch by two repetitions of a loop, in seconds.
func Slope(shorter, longer float64, fewer, more int) float64 {
	return (longer - shorter) / float64(more-fewer)
}
