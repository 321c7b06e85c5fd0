package harness

import (
	"matladder/harness/measure"
	"matladder/results"
	"matladder/stats"
)

// A sample is the time of one launch, with what its rows say of the machine meanwhile.
type sample struct {
	seconds    float64
	conditions []stats.Symptoms // of both rows of a loop
}

// samplesOf are those of the rows of one point, in the order in which they were timed.
func samplesOf(rows []results.Record) []sample {
	var list []sample
	for i := range rows {
		var last *results.Record
		if i > 0 {
			last = &rows[i-1]
		}
		if s, ok := sampleOf(last, &rows[i]); ok {
			list = append(list, s)
		}
	}
	return list
}

// sampleOf is the sample that row, the next one of its point after last, completes.
func sampleOf(last, row *results.Record) (s sample, ok bool) {
	if row.Launches == 0 || row.Seconds == 0 {
		return s, false
	}
	if s.seconds, ok = launchTime(last, row); !ok {
		return s, false
	}
	s.conditions = append(s.conditions, stats.SymptomsOf(row))
	if row.Method == results.Loop {
		s.conditions = append(s.conditions, stats.SymptomsOf(last))
	}
	return s, true
}

// launchTime is the time of a launch as row, the next row of its point after
// last, completes it; false if row is only the shorter count of a loop.
func launchTime(last, row *results.Record) (seconds float64, ok bool) {
	switch {
	case row.Method != results.Loop:
		return row.Seconds / float64(row.Launches), true
	case last == nil || last.RunID != row.RunID || last.Round != row.Round || last.Launches >= row.Launches:
		return 0, false
	}
	return measure.Slope(last.Seconds, row.Seconds, last.Launches, row.Launches), true
}

// quiet are the times of the samples that nothing disturbed.
func (r *run) quiet(samples []sample) []float64 {
	var times []float64
	for _, s := range samples {
		causes := stats.Causes(0)
		for _, c := range s.conditions {
			causes |= r.watch.Disturbances.Of(c)
		}
		if causes == 0 {
			times = append(times, s.seconds)
		}
	}
	return times
}

// rests reports whether a lane sits a round out, since more would not change what is
// known of it: rounds go where an interval is still wide. What others are held against
// takes part as long as any of them does.
func (g *group) rests(l *lane) bool { return l.rounds > 0 && !l.isBaseline() && g.settled(l) }

// settled reports whether more rounds would not change what a reader concludes of a
// lane, or there were as many as the sweep allows. Disturbed ones are repeated, as often
// as there are quiet ones at most.
func (g *group) settled(l *lane) bool {
	c := g.sweep.Config
	if l.rounds >= 2*c.MaxRounds {
		return true
	}
	quiet := g.quiet(l.samples)
	if len(quiet) == len(l.samples) && l.rounds >= c.MaxRounds || len(quiet) >= c.MaxRounds*c.Repetitions {
		return true
	}
	return l.rounds >= c.MinRounds && narrow(quiet)
}
