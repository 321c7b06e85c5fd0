package tune

import (
	"matladder/harness/measure"
	"matladder/results"
	"matladder/stats"
)

// watched is what became of the machine while a job was measured, told as in a sweep: by
// a control and what the system says.
type watched struct {
	*measure.Watch
	Machine
	threads int
	job     string
}

// Machine says how often a job's rounds were measured, and how often that was once more
// as the machine was slow or disturbed.
type Machine struct{ Rounds, Repeated int }

// watchOver begins to watch the machine for a job.
func (t *Tuner) watchOver(j Job) *watched {
	return &watched{
		Watch:   measure.NewWatch(t.Backend, t.Controller, measure.CountersOf(t.Space.Device), t.clock),
		threads: t.Params.Threads, job: j.Key().String(),
	}
}

// quiet learns from what became of the machine in a round, and reports whether it was quiet.
func (m *watched) quiet(c results.Conditions) bool {
	m.Rounds++
	m.Current = stats.SymptomsIn("tune", m.job, m.threads, &c)
	m.Disturbances.Add(m.Current)
	return m.Disturbances.Of(m.Current) == 0
}
