package harness

import (
	"time"

	"matladder/harness/measure"
	"matladder/results"
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
