// Package tune finds the best block shape of a kernel on a problem.
//
//	kernel, problem ─► Space.Candidates: shapes that tile and fit, ordered by their counts
//	                ─► Measure: a screening launch each, then a race in interleaved rounds
//	                 or Predict: compiled ahead of time, several at once
//	                ─► tuned.Row: the winner with its evidence
//
// A race ends when the leader's interval is clear of all others, when those left
// are as fast for all that matters, or when time is up. The kernel's own proposals
// take part to the end unless they are clearly slower, so that a winner is never
// worse than they are, as far as the samples tell.
//
// The package writes no file, and chooses nothing but block shapes.
package tune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"matladder/backend"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tuned"
)

// Job is a kernel on a problem.
type Job struct {
	Kernel  kernels.Kernel
	Variant string
	Problem problem.Matmul
}

// Key is what the job's row will be found by.
func (j Job) Key() tuned.Key { return tuned.KeyOf(j.Kernel.Name(), j.Variant, j.Problem) }

// Tuner tunes on one backend.
type Tuner struct {
	Backend  backend.Backend
	Params   backend.Params
	Space    Space
	Seed     uint64
	Dist     string        // of the inputs: a distribution of package check
	Budget   time.Duration // of one job; 0 for no limit
	Versions string        // written into the evidence
	Observe  func(Event)   // progress; may be nil

	now func() time.Time // the clock; nil for the real one
}

// Event is progress in a job.
type Event struct {
	Candidates int // in all
	Screened   int // of these: have had their first launch, or their prediction
	Racing     int // still in the race
	Round      int // rounds of the race that are over
}

// ErrNone says that no candidate could be run: the message has the reason of the
// last.
var ErrNone = errors.New("no block shape could be run")

// Tune returns the row of a job. A cancelled ctx ends it with an error and no row.
func (t *Tuner) Tune(ctx context.Context, j Job) (tuned.Row, error) {
	list, err := t.Space.Candidates(j.Kernel, j.Variant, j.Problem)
	if err != nil {
		return tuned.Row{}, err
	}
	row := tuned.Row{Key: j.Key()}
	if p, ok := t.Backend.(backend.Predictor); ok {
		row.Blocks, row.Evidence, err = t.predict(ctx, p, list)
	} else {
		row.Blocks, row.Evidence, err = t.measure(ctx, j, list)
	}
	if err != nil {
		return tuned.Row{}, fmt.Errorf("%s: %w", row.Key, err)
	}
	row.Evidence.Versions, row.Evidence.Date = t.Versions, t.clock().UTC().Format(time.DateOnly)
	return row, nil
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

// evidence is what times over the winner's say.
func evidence(winner tile.Blocks, seconds float64, tried map[tile.Blocks]float64) tuned.Evidence {
	e := tuned.Evidence{Seconds: seconds, Low: seconds, High: seconds, Tried: tried}
	for b, ratio := range tried {
		if b != winner && (e.RunnerUp == (tile.Blocks{}) || round(ratio-1) < e.Behind || round(ratio-1) == e.Behind && b.String() < e.RunnerUp.String()) {
			e.RunnerUp, e.Behind = b, round(ratio-1)
		}
	}
	return e
}
