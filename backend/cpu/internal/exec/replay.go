package exec

import (
	"slices"
	"time"

	"matladder/backend/cpu/internal/gemm"
)

// A launch whose control flow depends on the grid alone does the same each time, as long as arrays
// stay where they are. One such launch is taped: what workers do in the end, such as packing,
// multiplying and writing. Later launches replay that, and decide nothing.

const (
	// mostLeaves bounds a tape. Longer launches take so long that deciding costs little.
	mostLeaves = 1 << 14
	// untaped is how many launches on the same arrays come before one that is taped: taping
	// allocates, and callers that come with other arrays each time gain nothing. Where a worker has
	// several tasks, taping takes as long as some launches, and more come before.
	untaped, untapedMany = 3, 6
	// brief launches are over before a worker could help another that lost its core: their tasks are
	// the same workers' each time.
	brief = 4 * time.Millisecond
)

// startTape begins to tape a launch, if one is due.
func (r *Run) startTape() {
	t := &r.Plan.Tasks
	r.launches++
	before, few := untaped, t.Phases() == 1 && t.Count(0) <= len(r.Workers)
	if !few {
		before = untapedMany
	}
	if r.launches == untapedMany {
		r.began = time.Now()
	}
	due := r.launches == before+1 && (few || len(r.Workers) == 1 || t.Phases() == 1 && r.took < brief)
	for _, w := range r.Workers {
		w.Taping, w.leaves, w.framed = due, nil, 0
		if w.tape = nil; due {
			w.tape = new(gemm.Tape)
		}
	}
}

// endTape has later launches replay this one, if it was taped to the end.
func (r *Run) endTape() {
	if r.launches == untapedMany {
		r.took = time.Since(r.began)
	}
	r.Replays = true
	for _, w := range r.Workers {
		r.Replays, w.Taping = r.Replays && w.Taping, false
	}
}

// dropTapes has launches decide anew: arrays lie elsewhere.
func (e *Executable) dropTapes() {
	for _, r := range e.Runs {
		r.launches, r.Replays = 0, false
		for _, w := range r.Workers {
			w.leaves = nil
		}
	}
}

// replay is the worker's part of a launch.
func (w *Worker) replay() {
	for _, leaf := range w.leaves {
		if w.pool.over() {
			return
		}
		leaf()
	}
}

// keep tapes leaves that look at nothing of the worker that changes in a launch.
func (w *Worker) keep(leaves ...func()) {
	w.leaves = append(w.leaves, leaves...)
	w.Taping = len(w.leaves) <= mostLeaves
}

// leaf tapes what it does, which may look at where the worker is in the grid, and at tables.
func (w *Worker) leaf(do func()) {
	if w.framed != w.Programs {
		w.framed = w.Programs
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
	w.Taping = false
	do()
	row, col := w.Row, w.Col
	w.keep(func() {
		w.Row, w.Col = row, col
		do()
	})
}
