package exec

import "slices"

// A launch whose control flow depends on the grid alone does the same each time, as long as arrays
// stay where they are. One such launch is taped: what workers do in the end, such as packing,
// multiplying and writing. Later launches replay the tape, and decide nothing.

// tape is what one worker does in a launch, in order.
type tape struct {
	leaves  []func()
	program int  // whose frame the last leaf has; 0 for none
	spoiled bool // launches may differ, or have too many leaves
}

const (
	// mostLeaves bounds a tape. Longer launches take so long that deciding costs little.
	mostLeaves = 256
	// untaped is how many launches on the same arrays come before one that is taped: taping
	// allocates, and callers that come with other arrays each time gain nothing.
	untaped = 3
)

// mayTape reports whether a launch's tape would be the next one's: each worker has the same
// tasks, and none waits for another within a launch.
func (r *Run) mayTape() bool {
	w, t := r.Workers[0], &r.Plan.Tasks
	return w.record == nil && w.mesh == nil && (len(r.Workers) == 1 || t.Phases() == 1 && t.Count(0) <= len(r.Workers))
}

// startTape begins to tape the launch, if one is due.
func (r *Run) startTape() {
	if r.launches++; r.launches != untaped+1 || !r.mayTape() {
		return
	}
	r.taping = true
	for _, w := range r.Workers {
		w.tape, w.Tabled = new(tape), false
	}
}

// endTape keeps the tapes of a launch that was done as a whole.
func (r *Run) endTape(done bool) {
	if !r.taping {
		return
	}
	r.taping, r.Replays = false, done
	for _, w := range r.Workers {
		r.Replays = r.Replays && !w.tape.spoiled && !w.Tabled
		w.leaves, w.tape = w.tape.leaves, nil
	}
	if !r.Replays {
		r.dropTape()
		r.launches = untaped + 1 // for good, but for other arrays
	}
}

// dropTape forgets tapes: arrays lie elsewhere.
func (r *Run) dropTape() {
	r.launches, r.Replays = 0, false
	for _, w := range r.Workers {
		w.leaves = nil
	}
}

// dropTapes is that of all runs.
func (e *Executable) dropTapes() {
	for _, r := range e.Runs {
		r.dropTape()
	}
}

// replay is the worker's part of a launch.
func (w *Worker) replay() {
	w.unwiden()
	for _, leaf := range w.leaves {
		if w.pool.over() {
			return
		}
		leaf()
	}
}

// spoil has launches not be replayed.
func (w *Worker) spoil() {
	if w.tape != nil {
		w.tape.spoiled = true
	}
}

// keep tapes a leaf. It looks at nothing of the worker that changes in a launch.
func (w *Worker) keep(leaf func()) {
	t := w.tape
	if t.spoiled = t.spoiled || len(t.leaves) == mostLeaves; !t.spoiled {
		t.leaves = append(t.leaves, leaf)
	}
}

// keepFramed tapes a leaf that may look at where the worker is in the grid.
func (w *Worker) keepFramed(leaf func()) {
	if t := w.tape; t.program != w.Programs {
		t.program = w.Programs
		ids, places := slices.Clone(w.IDs), slices.Clone(w.Places)
		w.keep(func() {
			copy(w.IDs, ids)
			copy(w.Places, places)
			w.Programs++
		})
	}
	row, col := w.Row, w.Col
	w.keep(func() {
		w.Row, w.Col = row, col
		leaf()
	})
}
