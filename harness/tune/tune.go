// Package tune finds the best block shape of a kernel on a problem, and what a backend
// that is a backend.Adjuster had best decide otherwise than by its own rules.
//
//	kernel, problem ─► Space.Candidates: shapes that tile and fit, ordered by their counts
//	                ─► measured: a screening sample each, a race in interleaved rounds,
//	                   a confirmation of its winner; then the same with the backend's
//	                   adjustments of that one
//	                 or predicted: compiled ahead of time, several at once; then its
//	                   adjustments, of which a step at a time is taken
//	                ─► tuned.Row: the choice with its evidence
//
// The screening looks at the kernel's own proposals and at what a table answers as things stand,
// at the shapes that the counts like best, and from the fastest of all these on at their
// neighbours. A race ends when the leader's interval is clear of all others, when none of those
// left can be faster by what matters, or when time is up. What ended it and how many of the
// candidates were launched are part of the evidence; a job whose time is not enough for a row
// that is worth keeping is left alone. Its winner then meets the best of those that are taken
// where nothing is tuned, in paired rounds of fresh samples, and replaces it only if these show
// it to be faster. Samples are compared with those of the same round, and rounds in which the
// machine is slow, or a control shows it to be disturbed, are repeated while patience lasts. What
// crashes, hangs or fails, or is faster than the device can be, is out of the race (package
// measure), and told (Dropped).
//
// The block shape that was found so then races against itself with each adjustment
// that the backend names. The fastest is taken if paired rounds of fresh samples show
// it to be faster by what matters, and its output is right; others are then added to
// it, and of a number those beyond it tried. Where no adjustment alone is faster, pairs of the best race too.
//
// The package writes no file, and chooses nothing but block shapes and adjustments.
package tune

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/harness/measure"
	"matladder/harness/tuned"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/stats"
)

// Job is a kernel on a problem.
type Job struct {
	Kernel  kernels.Kernel
	Variant string
	Problem problem.Problem
	Known   []tuned.Answer // used as things stand, such as what a table answers: their block shapes take part beside the kernel's own, and those with parameters beside the adjustments
}

// Key is what the job's row will be found by.
func (j Job) Key() tuned.Key { return tuned.KeyOf(j.Kernel.Name(), j.Variant, j.Problem) }

// seed is that of the orders of one part of the job.
func (j Job) seed(part string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(part + j.Key().String()))
	return h.Sum64()
}

// Tuner tunes on one backend.
type Tuner struct {
	Backend  backend.Backend
	Params   backend.Params
	Space    Space
	Seed     uint64
	Dist     string        // of the inputs: a distribution of package check
	Budget   time.Duration // of one job; 0 for no limit
	AtMost   time.Duration // to which the Budget of a job is raised that needs more for its row to be worth keeping
	Timeout  time.Duration // of one compilation, and of the launches of one sample; 0 for a minute
	Versions string        // written into the evidence
	Observe  func(Event)   // progress; may be nil

	Controller backend.Controller // tells whether the machine is as it was; may be nil
	Prober     backend.Prober     // measures the device's figures once more where a launch beats them; may be nil
	Machine    Machine            // what became of it while the last job was measured
	Dropped    []Dropped          // candidates of the last job that the race had to do without

	now   func() time.Time    // the clock; nil for the real one
	sleep func(time.Duration) // on it; nil for the real one

	machine *watched // of the job that is measured
	bounds  measure.Bounds

	references *seeded.References // nil until the first candidate is open
}

// Event is progress in a job.
type Event struct {
	Candidates int  // in all
	Screened   int  // of these: have had their first launch, or their prediction
	Racing     int  // still in the race
	Round      int  // rounds of the race that are over
	Adjusting  bool // what races are adjustments of the block shape that was found
}

// ErrNone says that no candidate could be run: the message has the reason of the last.
var ErrNone = errors.New("no block shape could be run")

// Tune returns the row of a job. A cancelled ctx ends it with an error and no row, and
// so does too little time, with a *ShareError.
func (t *Tuner) Tune(ctx context.Context, j Job) (tuned.Row, error) {
	a := t.allowance()
	t.Dropped = nil
	space := t.Space
	space.Most = math.MaxInt
	list, err := space.Candidates(j)
	if err != nil {
		return tuned.Row{}, err
	}
	row := tuned.Row{Key: j.Key()}
	if p, predicts := t.Backend.(backend.Predictor); predicts {
		row.Blocks, row.Evidence, err = t.predict(ctx, p, j, t.Space.keep(list), a)
		if err == nil {
			err = t.adjustPredicted(ctx, p, j, list, a, &row)
		}
	} else {
		err = t.measureRow(ctx, j, list, a, &row) // the screening finds its way among them
	}
	if err != nil {
		return tuned.Row{}, fmt.Errorf("%s: %w", row.Key, err)
	}
	e := &row.Evidence
	e.Candidates, e.Ended = len(list), a.ended()
	e.Versions, e.Date = t.Versions, t.clock().UTC().Format(time.DateOnly)
	return row, nil
}

// measureRow finds the block shape of a row by measuring, and its parameters.
func (t *Tuner) measureRow(ctx context.Context, j Job, list []Candidate, a *allowance, row *tuned.Row) error {
	t.machine = t.watchOver(j)
	defer func() {
		t.Machine = t.machine.Machine
		t.machine.Close()
		t.machine = nil
	}()
	winner, e, err := t.measure(ctx, j, list, a)
	if err != nil {
		return err
	}
	row.Blocks, row.Evidence = winner.Blocks, e
	return t.adjust(ctx, j, list, winner, a, row)
}

func (t *Tuner) clock() time.Time {
	if t.now != nil {
		return t.now()
	}
	return time.Now()
}

func (t *Tuner) observe(e Event) {
	if t.Observe != nil {
		t.Observe(e)
	}
}

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
