package harness

import (
	"time"

	"matladder/harness/measure"
	"matladder/results"
	"matladder/stats"
	"matladder/stats/interval"
	"matladder/tile"
)

// past is what the rows of a point say.
type past struct {
	rounds   int      // one more than the last that has rows
	launches int      // of one repetition, the shorter one of a loop
	longer   int      // of the longer one; 0 for other methods
	samples  []sample // one for each repetition, for each pair of a loop
	ended    bool     // by a status other than ok and timeout
	ok       bool     // some of its rows are
	timeouts int
	last     *results.Record // that was timed
	fastest  float64         // launch of all rows, in seconds
}

// history finds the points in the rows of a file.
func history(rows []results.Record) map[results.PointKey]*past {
	points := map[results.PointKey]*past{}
	for i := range rows {
		key := identity(&rows[i])
		if points[key] == nil {
			points[key] = &past{}
		}
		points[key].add(&rows[i])
	}
	return points
}

// add counts a row in, the next one of its point.
func (p *past) add(r *results.Record) {
	p.rounds = max(p.rounds, r.Round+1)
	switch r.Status {
	case results.OK:
		p.ok = true
	case results.Timeout:
		p.timeouts++
	default:
		p.ended = true
	}
	if r.Launches == 0 || r.Seconds == 0 {
		return
	}
	if p.launches == 0 || r.Launches < p.launches {
		p.launches = r.Launches
	}
	if r.Method == results.Loop {
		p.longer = max(p.longer, r.Launches)
	}
	if s, ok := sampleOf(p.last, r); ok && r.Sustained() {
		p.samples = append(p.samples, s)
	}
	p.last = r
	if each := r.Seconds / float64(r.Launches); p.fastest == 0 || each < p.fastest {
		p.fastest = each
	}
}

// over reports whether a point is not to be measured again. One that was well within the
// limit of time before, and once was not, is: most likely whatever measured it stood still
// (suspended, stopped, frozen), which programs did not tell from a launch that hangs.
func (p *past) over() bool { return p.ended || p.timeouts > 1 || p.timeouts == 1 && !p.ok }

// identity is the key of a row's point without the method of timing and the place
// of its operands, which are known only once it has been timed.
func identity(r *results.Record) results.PointKey {
	key := r.Point()
	key.Method, key.Operands = "", ""
	return key
}

// candidates prepares the points of a group: it builds their programs and takes up
// what earlier executions left of them.
func (r *run) candidates(g Group, done map[results.PointKey]*past) []*candidate {
	var candidates []*candidate
	for _, p := range g.Points {
		l := &candidate{Point: p, bytes: p.bytes()}
		if p.Status == "" {
			l.prepare()
		}
		if _, err := r.cooler(l); l.Status == "" && !r.sweep.Predict && err != nil {
			l.Status, l.Reason = classify(err), err.Error()
		}
		l.row = r.record(l.Point, l.programs)
		if old := done[identity(&l.row)]; old != nil {
			l.past, l.retired = *old, old.over()
			l.counts.Launches, l.counts.Longer = old.launches, old.longer
			if old.last != nil {
				l.counts.Expect(time.Duration(old.fastest * float64(time.Second)))
				r.settle(l)
			}
		}
		candidates = append(candidates, l)
	}
	return candidates
}

// prepare writes the candidate's programs; a kernel that cannot is a failed point.
func (l *candidate) prepare() {
	err := measure.Guard(func() (err error) {
		l.programs, err = l.build(l.Problem, l.Variant)
		return err
	})
	if err == nil && len(l.programs) > 0 {
		_, err = tile.Bind(l.programs)
	}
	if err != nil {
		l.programs = nil
		l.Status, l.Reason = classify(err), err.Error()
	}
}

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
