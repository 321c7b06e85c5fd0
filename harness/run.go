package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/harness/measure"
	"matladder/machine"
	"matladder/problem"
	"matladder/results"
	"matladder/stats"
)

// Options say where a sweep runs and where its rows go.
type Options struct {
	Backend    backend.Backend
	Baseline   backend.Backend    // measures kernel 0; nil if Backend does, or those points are skipped (Sweep.Skip)
	Prober     backend.Prober     // measures the machine's figures once more where a launch beats them; nil if none is measured
	Controller backend.Controller // times a fixed piece of work ahead of and behind rounds; nil for none
	Provenance Provenance
	Out        string              // path of the results file
	Resume     bool                // continue Out; otherwise it must not exist
	Fault      string              // damages each output before it is verified, to show what the check says; "" for none
	Counters   func(missing error) // unless nil, events of processors are counted; missing says which cannot be
	Begin      func()              // called when the file is open; may be nil
	Observe    func(Event)

	countersOf func(machine.Device) measure.Counters // of a test's machine; nil for measure.CountersOf
}

// Event is progress: a point has had its turn, a round has been written, or a group is complete.
type Event struct {
	Group, Groups int // the group's number from 1
	Problem       problem.Problem
	Kernel        string           // whose turn is over; "" for the other events
	Round         int              // rounds of the group that are written
	Rows          []results.Record // of the round that has been written
	Repetitions   int              // of this execution so far
	Disturbed     int              // of these: by what is known by now
	Complete      bool             // the group is settled, or its share of the time is over: it is taken up again if time is left at the end
	Done          float64          // of the whole, from 0 to 1; while intervals are Narrowed, of the time that was left
	Narrowed      int              // medians not well known when all groups had had their share, on which time that is left goes; 0 before
}

// Outcome is what a sweep left behind.
type Outcome struct {
	Rows   []results.Record // all rows of the file: earlier executions' first
	New    int              // of Rows: those of this execution
	Repair results.Repair   // what resuming took out of the file
	Saved  string           // the file that has Rows if Options.Out has not; then there was a *results.LostError

	Control time.Duration // of this execution, spent on controls and counters
}

// run is one execution of a sweep.
type run struct {
	sweep   Sweep
	opt     Options
	journal *results.Journal
	rows    rowList
	now     func() time.Time
	bounds  measure.Bounds
	saved   string     // Outcome.Saved
	turns   *turns     // which point has its turn, on disk
	rng     *rand.Rand // of when an output is looked at; orders have their own
	watch   *measure.Watch

	references *seeded.References
	verifying  sync.Mutex // one prediction at a time

	counted   int // repetitions of this execution
	disturbed int // of these, by what was known then
}

// Run measures a sweep. It returns what is in the file even with an error: then
// ctx was cancelled (errors.Is context.Canceled), the check is broken, or the
// file cannot be written. Points that fail are rows, not errors.
func Run(ctx context.Context, s Sweep, opt Options) (Outcome, error) {
	return start(ctx, s, opt, time.Now)
}

func start(ctx context.Context, s Sweep, opt Options, now func() time.Time) (_ Outcome, err error) {
	r := &run{sweep: s, opt: opt, now: now, bounds: measure.Bounds{Prober: opt.Prober}, references: seeded.Keep(seeded.Most, true)}
	r.rng = rand.New(rand.NewPCG(uint64(s.Config.Seed), uint64(now().UnixNano())))
	if opt.countersOf == nil {
		opt.countersOf = measure.CountersOf
	}
	r.watch = measure.NewWatch(opt.Backend, opt.Controller, opt.countersOf(s.Device), now)
	defer r.watch.Close()
	begin := r.now()
	var old []results.Record
	var repair results.Repair
	if opt.Resume {
		r.journal, old, repair, err = results.Resume(ctx, opt.Out)
	} else {
		r.journal, err = results.Create(opt.Out)
	}
	if err != nil {
		return Outcome{}, err
	}
	defer func() {
		err = errors.Join(err, r.journal.Close())
		if err != nil && !opt.Resume && r.rows.length == 0 && !errors.As(err, new(*results.LostError)) {
			os.Remove(opt.Out) // nothing to keep, and nothing in the way of the next attempt
		}
	}()
	r.rows.add(old)
	r.turns = openTurns(opt.Out, opt.Resume)
	defer r.turns.end()
	r.learn(old)
	if opt.Begin != nil {
		opt.Begin()
	}
	if opt.Counters != nil && !s.Predict {
		opt.Counters(r.watch.CountEvents())
	}
	if s.Predict {
		err = r.predict(ctx, history(old))
	} else if err = r.testCheck(ctx); err == nil {
		err = r.groups(ctx, begin, history(old))
	}
	if lost := r.journal.Intact(); lost != nil && r.saved == "" && r.rows.length > 0 {
		err = errors.Join(r.rescue(lost), err)
	}
	return Outcome{Rows: r.rows.all(), New: r.rows.length - len(old), Repair: repair, Saved: r.saved, Control: r.watch.Spent()}, err
}

// ratio is a/b, 0 where b is nothing.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return min(1, a/b)
}

// append writes the rows of a round.
func (r *run) append(rows []results.Record) error {
	err := r.journal.Append(rows)
	lost := errors.As(err, new(*results.LostError))
	if err != nil && !lost {
		return fmt.Errorf("results: %w", err)
	}
	for i := range rows {
		rows[i].Pos.File = r.opt.Out // as of rows that were read from it
	}
	r.rows.add(rows)
	r.learn(rows)
	for i := range rows {
		if rows[i].Status == results.OK && rows[i].Mode == results.Measured {
			r.counted++
			if r.watch.Disturbances.Of(stats.SymptomsOf(&rows[i])) != 0 {
				r.disturbed++
			}
		}
	}
	if lost {
		return r.rescue(err)
	}
	return nil
}

// rescue writes all rows beside a file that has lost some, and returns what is to be
// said of that.
func (r *run) rescue(lost error) error {
	saved, err := results.Rescue(r.opt.Out, r.rows.all())
	if err != nil {
		return fmt.Errorf("results: %w; and its rows cannot be saved beside it: %w", lost, err)
	}
	r.saved = saved
	return fmt.Errorf("results: %w; all %d rows are in %s", lost, r.rows.length, saved)
}

// learn takes in what rows say of the machine.
func (r *run) learn(rows []results.Record) {
	for i := range rows {
		r.watch.Disturbances.Add(stats.SymptomsOf(&rows[i]))
	}
}

func (r *run) inputs(p Point) backend.InputSpec {
	return backend.InputSpec{Problem: p.Problem, Seed: uint64(r.sweep.Config.Seed), Dist: p.Inputs}
}

// collect frees what earlier points left, so that no collection falls into a
// repetition on the same cores.
func (r *run) collect() {
	if r.sweep.Device.Kind == machine.CPU {
		runtime.GC()
	}
}

func (r *run) observe(e Event) {
	if r.opt.Observe != nil {
		e.Repetitions, e.Disturbed = r.counted, r.disturbed
		r.opt.Observe(e)
	}
}
