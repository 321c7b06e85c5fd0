package harness

import (
	"matladder/harness/measure"
	"matladder/results"
	"matladder/stats"
	"matladder/stats/interval"
)

// A sample is the time of one launch, with what its rows say of the machine meanwhile.
type sample struct {
	seconds  float64
	symptoms []stats.Symptoms // of both rows of a loop
}

// sampleOf is the sample that row, the next one of its point after last, completes; false if
// row is only the shorter count of a loop.
func sampleOf(last, row *results.Record) (s sample, ok bool) {
	if row.Method != results.Loop || row.Duty > 0 { // launches of a window are so many that their start is nothing
		return sample{row.Seconds / float64(row.Launches), []stats.Symptoms{stats.SymptomsOf(row)}}, true
	}
	if last == nil || last.RunID != row.RunID || last.Round != row.Round || last.Launches >= row.Launches {
		return s, false
	}
	return sample{measure.Slope(last.Seconds, row.Seconds, last.Launches, row.Launches), []stats.Symptoms{stats.SymptomsOf(row), stats.SymptomsOf(last)}}, true
}

// quiet are the times of the samples that nothing disturbed.
func (r *run) quiet(samples []sample) []float64 {
	var times []float64
	for _, s := range samples {
		causes := stats.Causes(0)
		for _, c := range s.symptoms {
			causes |= r.watch.Disturbances.Of(c)
		}
		if causes == 0 {
			times = append(times, s.seconds)
		}
	}
	return times
}

// narrowEnough is the half-width of a median's interval, relative to the median,
// at which more rounds would not change what a reader concludes.
const narrowEnough = 0.02

// narrow reports whether the median of times is known well enough, without an
// assumption on their distribution.
func narrow(times []float64) bool {
	i := interval.Of(times)
	return i.Sure() && i.Spread() <= narrowEnough
}

// rests reports whether a candidate sits a round out, since more would not change what is
// known of it: rounds go where an interval is still wide. What others are held against
// takes part as long as any of them does.
func (g *group) rests(l *candidate) bool { return l.rounds > 0 && !l.isBaseline() && g.settled(l) }

// settled reports whether more rounds would not change what a reader concludes of a
// candidate, or there were as many as the sweep allows. Disturbed ones are repeated, as often
// as there are quiet ones at most.
func (g *group) settled(l *candidate) bool {
	c := g.sweep.Config
	if l.rounds >= 2*c.MaxRounds {
		return true
	}
	quiet := g.quiet(l.samples)
	if l.Duty > 0 { // a window has many samples
		return l.rounds >= c.MaxRounds || l.rounds >= min(c.MinRounds, 2) && narrow(quiet)
	}
	if len(quiet) == len(l.samples) && l.rounds >= c.MaxRounds || len(quiet) >= c.MaxRounds*c.Repetitions {
		return true
	}
	return l.rounds >= c.MinRounds && narrow(quiet)
}
