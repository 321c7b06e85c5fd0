package tune

import (
	"matladder/harness/measure"
	"matladder/results"
	"matladder/stats"
)

// watched is what became of the machine while a job was measured, told as in a sweep: by
// a control and what the system says, in rows that nobody keeps.
type watched struct {
	watch        *measure.Watch
	threads      int
	job          string
	disturbances stats.Disturbances
	last         stats.Conditions

	rounds, repeated int
}

// Machine says how often a job's rounds were measured, and how often that was once more
// as the machine was slow or disturbed.
type Machine struct{ Rounds, Repeated int }

// watchOver begins to watch the machine for a job.
func (t *Tuner) watchOver(j Job) *watched {
	m := &watched{threads: t.Params.Threads, job: j.Key().String()}
	m.watch = measure.NewWatch(t.Controller, measure.CountersOf(t.Space.Device), t.clock, func(c measure.Control) bool {
		return m.disturbances.Off(m.last, c.Compute.Seconds(), c.Memory.Seconds())
	})
	m.watch.Over(t.Backend)
	return m
}

// row stands for a sample.
func (m *watched) row() results.Record {
	return results.Record{RunID: "tune", Beside: m.job, Threads: m.threads}
}

// judge learns from the rows of a round and reports whether the machine was quiet.
func (m *watched) judge(rows []results.Record) bool {
	m.rounds++
	if len(rows) == 0 {
		return true
	}
	m.last = stats.ConditionsOf(&rows[0]) // which all rows of a round share
	m.disturbances.Add(m.last)
	return m.disturbances.Of(m.last) == 0
}
