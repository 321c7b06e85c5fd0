package harness

import (
	"time"

	"matladder/stats"

	"matladder/results"
)

// Where other programs want the processors, a thread keeps one for a few milliseconds at a
// time. A repetition of measure.Shortest then hardly ever has all that it needs, and a short
// one often: on two threads, beside four busy processes on four cores, 1 of 100 of the former
// ran undisturbed, and 55 of 100 of the latter (EPYC Zen 5, 2026-11-23). So repetitions become a quarter as long, and
// then half of that.
//
// All of a group become shorter together, and as many launches as ever go ahead of each, or
// the result would depend on who was disturbed. Four threads that a pause has put to sleep
// take some milliseconds until each has a core of its own. Behind 5 ms of launches, 0.5 ms of
// 256×256×256 took 96 µs a launch, as 5 ms did, and 180 µs behind no more than 0.5 ms
// (EPYC Zen 3, 2026-11-24).
const mostHalvings = 3

// crowded reports whether others had the processors in all repetitions of a candidate's turn, and
// whether these can be shorter. If launches are much shorter than they seemed, calibrating
// was disturbed too: the next repetitions have as many as they have room for.
func (g *group) crowded(l *candidate, rows []results.Record) bool {
	c := &l.counts
	if c.Longer > 0 || g.sweep.Config.Cache == results.Cold || l.retired || len(rows) == 0 {
		return false
	}
	fastest, beside := c.Each, c.Halved(g.halvings).Launches > 1
	for i := range rows {
		fastest = min(fastest, time.Duration(rows[i].Seconds/float64(rows[i].Launches)*float64(time.Second)))
		beside = beside && g.watch.Disturbances.Of(stats.SymptomsOf(&rows[i]))&stats.Waited != 0
	}
	if fastest <= c.Each/2 {
		c.Expect(fastest)
		g.settle(l)
	}
	return beside
}
