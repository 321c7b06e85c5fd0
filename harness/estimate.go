package harness

import (
	"time"

	"matladder/harness/measure"
	"matladder/internal/cgroup"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Estimate is what a sweep is expected to need, known before it starts.
type Estimate struct {
	Groups     int
	Points     int           // all of them
	Unmeasured int           // of Points: known to end as a row with a reason
	TooBig     int           // of Points: more than the memory that is free
	Free       int64         // bytes of memory that is free; 0 if unknown
	Needed     int64         // of the arrays of the largest point that is too big
	Bytes      int64         // of the arrays of the largest group that are kept at once
	Largest    int64         // of the arrays of the largest point
	Time       time.Duration // of the smallest number of rounds, at half the device's peak
	Budget     time.Duration // at which rounds end where Time is less; 0 for no limit
	Budgeted   bool          // Time was cut: to the time budget, or to one round past it
}

// packedBytes is the most that a packed operand is expected to take beside its array.
const packedBytes = 256 << 20

// Estimate counts the sweep. A device of unknown peak leaves only the shortest
// repetitions to count.
func (s Sweep) Estimate() Estimate {
	var one time.Duration // round of each group, which no budget cuts
	e := Estimate{Groups: len(s.Groups), Free: s.Memory, Budget: s.Config.TimeBudget}
	for _, g := range s.Groups {
		var kept int64
		for _, p := range g.Points {
			e.Points++
			switch {
			case p.Status != "":
				e.Unmeasured++
			case !s.fits(p):
				e.TooBig++
				e.Needed = max(e.Needed, p.bytes())
			default:
				kept += p.bytes()
				e.Largest = max(e.Largest, p.bytes())
			}
		}
		if s.Memory > 0 {
			kept = min(kept, s.Memory/2)
		}
		e.Bytes = max(e.Bytes, kept, e.Largest)
		one += s.roundTime(g)
		e.Time += s.leastTime(g)
	}
	if b := s.Config.TimeBudget; b > 0 && e.Time > b {
		e.Time, e.Budgeted = max(b, one), true
	}
	return e
}

// fits reports whether the arrays of p can be in memory. The backend has the last word.
func (s Sweep) fits(p Point) bool { return s.Memory == 0 || p.bytes() <= s.Memory }

// bytes is what the arrays of a point take: inputs, output, and the last input packed.
func (p Point) bytes() int64 {
	last := int64(0)
	for _, o := range p.Problem.Operands() {
		if !o.Out {
			last = o.Dtype.Bytes(tile.Elements(o.Shape))
		}
	}
	return p.Problem.Bytes() + min(last, packedBytes)
}

// leastTime estimates the fewest rounds of a group, and what comes before them.
func (s Sweep) leastTime(g Group) time.Duration {
	least := time.Duration(s.Config.MinRounds+1) * s.roundTime(g)
	for _, p := range g.Points {
		if p.Status == "" && s.fits(p) {
			least += p.opening(p.Problem)
		}
	}
	return least
}

// roundTime estimates one round of a group.
func (s Sweep) roundTime(g Group) time.Duration {
	var sum time.Duration
	for _, p := range g.Points {
		if p.Status != "" || !s.fits(p) {
			continue
		}
		launch := 2 * measure.LeastTime(s.Device, p.Problem) // half of what the device can do
		repetition := max(launch, measure.Shortest.Seconds())
		if launch <= measure.LongestSettling.Seconds() {
			repetition *= 2
		}
		if p.Duty > 0 {
			repetition = s.Config.Window.Seconds()
		}
		turn := s.Config.rest().Seconds() + repetition*float64(s.Config.Repetitions) + checkTime(p.Problem)
		sum += time.Duration(turn * float64(time.Second))
	}
	return sum
}

// checkTime is roughly what verifying an output costs in seconds: products of
// the rows that are compared in full, and passes over all arrays.
func checkTime(p problem.Problem) float64 {
	const fullRows = 1 << 25 // products at most; package check has the same bound
	return 3e-10 * (min(float64(p.FLOPs())/2, fullRows) + 10*float64(problem.Elements(p)))
}

// freeMemory is the memory that arrays on d can take; 0 if unknown.
func freeMemory(d machine.Device) int64 {
	if d.Kind == machine.CPU {
		if free := cgroup.Available(); free > 0 {
			return free
		}
	}
	return int64(d.MemoryBytes.Value)
}
