package harness

import (
	"math/bits"
	"time"

	"matladder/measure"
	"matladder/results"
)

// Where other programs want the processors, a thread keeps one for a few milliseconds at a
// time. A repetition of measure.Shortest then hardly ever has all that it needs, and a short
// one often: beside four busy processes on four cores 1 of 100 of the one with two threads, and 55
// of 100 of the other (EPYC Zen 5, 2026-11-23). Each length that is too long is
// followed by a quarter of it, down to shortestBeside.
const shortestBeside = 500 * time.Microsecond

// adapt has the next repetitions of a lane be shorter if others had the processors in those
// of the last round, and finds anew how many launches they have if these are much shorter
// than they seemed: calibrating was disturbed too.
func (g *group) adapt(l *lane, rows []results.Record) {
	c := &l.counts
	if c.Longer > 0 || g.sweep.Config.Cache == results.Cold || l.retired || len(rows) == 0 {
		return
	}
	fastest, beside := c.Each, true
	for i := range rows {
		fastest = min(fastest, time.Duration(rows[i].Seconds/float64(rows[i].Launches)*float64(time.Second)))
		beside = beside && g.disturbances.Of(rows[i].Conditions())&results.Waited != 0
	}
	if !beside && fastest > c.Each/2 {
		return
	}
	if l.length == 0 {
		l.length = measure.Shortest
	}
	if beside {
		l.length = max(l.length/4, shortestBeside)
	}
	c.Each = fastest
	c.Launches = 1 << bits.Len64(uint64((l.length-1)/max(1, fastest)))
	g.settle(l)
}
