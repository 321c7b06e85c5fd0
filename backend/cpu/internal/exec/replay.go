package exec

import "slices"

// A launch whose control flow depends on the grid alone does the same each time, as long as arrays
// stay where they are. One such launch is taped: what workers do in the end, such as packing,
// multiplying and writing. Later launches replay the tape, and decide nothing.

// tape is what one worker does in a launch, in order.
type tape struct {
	leaves  []func()
	program int  // whose frame the last leaves have; 0 for none
	spoiled bool // launches may differ, or have too many leaves
}

const (
	// mostLeaves bounds a tape. Longer launches take so long that deciding costs little.
	mostLeaves = 256
	// untaped is how many launches on the same arrays come before one that is taped: taping
	// allocates, and callers that come with other arrays each time gain nothing.
	untaped = 3
)

// startTape begins to tape a launch, if one is due that workers do not share in ways of their own.
func (r *Run) startTape() {
	r.launches++
	t := &r.Plan.Tasks
	due := r.launches == untaped+1 && (len(r.Workers) == 1 || t.Phases() == 1 && t.Count(0) <= len(r.Workers))
	for _, w := range r.Workers {
		w.taping, w.tape, w.Tabled = due, tape{}, false
	}
}

// endTape has later launches replay this one, if it was taped.
func (r *Run) endTape() {
	r.Replays = true
	for _, w := range r.Workers {
		r.Replays = r.Replays && w.taping && !w.tape.spoiled && !w.Tabled
		w.taping = false
	}
}

// dropTapes has launches decide anew: arrays lie elsewhere.
func (e *Executable) dropTapes() {
	for _, r := range e.Runs {
		r.launches, r.Replays = 0, false
		for _, w := range r.Workers {
			w.tape = tape{}
		}
	}
}

// replay is the worker's part of a launch.
func (w *Worker) replay() {
	for _, leaf := range w.tape.leaves {
		if w.pool.over() {
			return
		}
		leaf()
	}
}

// keep tapes leaves that look at nothing of the worker that changes in a launch.
func (w *Worker) keep(leaves ...func()) {
	t := &w.tape
	if t.spoiled = t.spoiled || len(t.leaves)+len(leaves) > mostLeaves; !t.spoiled {
		t.leaves = append(t.leaves, leaves...)
	}
}

// leaf tapes what it does, which may look at where the worker is in the grid.
func (w *Worker) leaf(do func()) {
	if w.tape.program != w.Programs {
		w.tape.program = w.Programs
		ids, places := slices.Clone(w.IDs), slices.Clone(w.Places)
		w.keep(func() {
			copy(w.IDs, ids)
			copy(w.Places, places)
			w.Programs++
			for i := range w.Wide {
				w.Wide[i].Block = -1
			}
		})
	}
	row, col := w.Row, w.Col
	w.keep(func() {
		w.Row, w.Col = row, col
		do()
	})
	w.taping = false
	do()
	w.taping = true
}
