package harness

import (
	"time"

	"matladder/chips"
	"matladder/problem"
)

// Estimate is what a sweep is expected to need, known before it starts.
type Estimate struct {
	Points     int           // all of them
	Unmeasured int           // of Points: those that will only be a row with a reason
	Groups     int           //
	Bytes      int64         // of the arrays of the largest group that are kept at once
	Largest    int64         // of the arrays of the largest point
	Time       time.Duration // of the smallest number of rounds, at half the device's peak
	Budgeted   bool          // Time was cut by the time budget
}

// packedBytes is the most that a packed operand is expected to take beside its
// array.
const packedBytes = 256 << 20

// Estimate counts the sweep. A device of unknown peak leaves only the shortest
// repetitions to count.
func (s Sweep) Estimate() Estimate {
	e := Estimate{Groups: len(s.Groups)}
	memory := s.memoryBudget()
	for _, g := range s.Groups {
		var kept int64
		for _, p := range g.Points {
			e.Points++
			if p.Status != "" {
				e.Unmeasured++
				continue
			}
			bytes := p.bytes()
			e.Largest = max(e.Largest, bytes)
			kept += bytes
		}
		if memory > 0 {
			kept = min(kept, memory)
		}
		e.Bytes = max(e.Bytes, kept, e.Largest)
		e.Time += time.Duration(s.Config.MinRounds+1) * s.roundTime(g)
	}
	if b := s.Config.TimeBudget; b > 0 && e.Time > b {
		e.Time, e.Budgeted = b, true
	}
	return e
}

// bytes is what the arrays of a point take: inputs, output, and one packed
// operand.
func (p Point) bytes() int64 {
	b := p.Problem.B.Bytes(int64(p.Problem.K) * int64(p.Problem.N))
	return p.Problem.Bytes() + min(b, packedBytes)
}

// roundTime estimates one round of a group.
func (s Sweep) roundTime(g Group) time.Duration {
	launch := 2 * bestTime(s.Device, g.Problem) // half of what the device can do
	repetition := max(launch, shortestSample.Seconds())
	turn := repetition*float64(s.Config.Repetitions) + checkTime(g.Problem)
	var sum time.Duration
	for _, p := range g.Points {
		if p.Status == "" {
			sum += time.Duration(turn * float64(time.Second))
		}
	}
	return sum
}

// checkTime is roughly what verifying an output costs in seconds: products of
// the rows that are compared in full, and passes over all three matrices.
func checkTime(p problem.Matmul) float64 {
	const fullRows = 1 << 25 // products at most; package check has the same bound
	m, k, n := float64(p.M), float64(p.K), float64(p.N)
	return 1e-9 * (min(m*k*n, fullRows) + 10*(m*k+k*n+m*n))
}

// bestTime is the least time in seconds that a launch can take on d; 0 if its
// figures are unknown.
func bestTime(d chips.Device, p problem.Matmul) float64 {
	var t float64
	if peak := d.PeakAt(p.A.String(), p.Precision.String()); peak.Known() {
		t = float64(p.FLOPs()) / peak.Value
	}
	if d.BandwidthBytesPerSecond.Known() {
		t = max(t, float64(beyondCache(d, p.Bytes()))/d.BandwidthBytesPerSecond.Value)
	}
	return t
}

// beyondCache is the part of a footprint that must come from main memory anew
// in each launch, since the last-level cache cannot keep it.
func beyondCache(d chips.Device, bytes int64) int64 {
	return max(0, bytes-int64(d.LastLevelCacheBytes.Value))
}

// memoryBudget is what the executables of a group may take together: half of
// the memory that is free; 0 if that is unknown.
func (s Sweep) memoryBudget() int64 { return freeMemory(s.Device) / 2 }

// freeMemory is the memory that arrays on d can take; 0 if unknown.
func freeMemory(d chips.Device) int64 {
	total := int64(d.MemoryBytes.Value)
	if d.Kind != chips.CPU {
		return total
	}
	if free := hostMemory(); free > 0 {
		return free
	}
	return total
}
