package cpu

import (
	"fmt"

	"matladder/backend"
	"matladder/tile"
	"matladder/timeline"
)

// worker is the state of one core inside one program: where it is in the grid,
// which blocks it sees, and its own memory.
type worker struct {
	frame
	pool *pool

	tags   [][]int  // by operand: the block in each slot of its own; -1 for none
	caches []*cache // by operand: what workers share; nil for none

	phase    int
	counters backend.Counters
	record   *recorder // what it does when; nil where nobody asks

	_ [cacheLine]byte // those of another worker may follow
}

// String is the program that the worker is at: "v1_naive", "v4_optblock, i = 0, j = 2".
func (w *worker) String() string {
	s := w.plan.program.Name
	for i, a := range w.plan.program.Grid {
		s += fmt.Sprintf(", %s = %d", a.Name, w.ids[i])
	}
	return s
}

// enter prepares the worker for a launch.
func (w *worker) enter() {
	w.counters = backend.Counters{}
	for i := range w.places {
		r := &w.plan.refs[i]
		w.places[i] = place{block: -1, rows: r.rows, cols: r.cols}
	}
	for _, tags := range w.tags {
		fill(tags, -1)
	}
}

// task runs the programs of one point of the parallel axes.
func (w *worker) task(phase, n int) {
	t := &w.plan.tasks
	w.phase = phase
	t.locate(w.plan.program.Grid, phase, n, w.ids)
	for s := range t.steps {
		if w.pool.over() {
			return
		}
		decode(w.plan.program.Grid, t.serial, s, w.ids)
		from, before := w.now(), w.counters
		w.counters.GridSteps++
		w.see()
		w.bring()
		w.run(w.plan.steps)
		w.noteStep(from, before)
	}
}

// see moves every ref to its block of the current program.
func (w *worker) see() {
	for i := range w.plan.refs {
		r := &w.plan.refs[i]
		if len(r.Index) == 0 {
			continue
		}
		block, off := 0, 0
		at := &w.places[i]
		var rows, cols = 1, 1
		for d, x := range r.Index {
			b := tile.Eval(x, &w.frame)
			if b < 0 || b >= r.blocks[d] {
				panic(programError{fmt.Errorf("%s: %s: block %d of %s along dimension %d: there are %d",
					r.Pos, w.plan.program.Name, b, r.Name, d, r.blocks[d])})
			}
			block = block*r.blocks[d] + b
			size := r.BlockSize(d)
			off += b * size * r.strides[d]
			switch d {
			case r.rowDim:
				rows = min(size, r.Array[d]-b*size)
			case r.colDim:
				cols = min(size, r.Array[d]-b*size)
			}
		}
		if block == at.block {
			continue
		}
		*at = place{block, off, rows, cols}
		bytes := r.Dtype.Bytes(int64(rows) * int64(cols))
		switch {
		case r.Kind == tile.Out:
			w.counters.BytesStored += bytes
		case !r.countedPacked:
			w.counters.BlocksLoaded++
			w.counters.BytesLoaded += bytes
		}
	}
}

// run executes steps in the current program.
func (w *worker) run(steps []*step) {
	for _, s := range steps {
		switch s.kind {
		case stepFill:
			w.fillRef(s.dst, s.stmt.Value.Value)
		case stepCompute:
			w.compute(s)
		case stepWhen:
			if tile.EvalCond(s.cond, &w.frame) {
				w.run(s.body)
			}
		case stepAbreast:
			w.abreast(s.body)
		case stepStrips:
			w.strips(s)
		}
	}
}

// fresh reports whether step s stores its value in the current program, rather than
// adding it.
func (w *worker) fresh(s *step) bool {
	return s.stmt.Kind == tile.Store || s.zeroed != nil && tile.EvalCond(s.zeroed, &w.frame)
}

// compute executes a store or an accumulation.
func (w *worker) compute(s *step) { w.computeRows(s, 0, w.places[s.dst].rows) }

// computeRows executes it for rows row0 … row1-1 of the destination.
func (w *worker) computeRows(s *step, row0, row1 int) {
	fresh := w.fresh(s)
	at := &w.places[s.dst]
	if len(s.dots) == 0 {
		w.write(s, fresh, row0, row1, 0, at.cols)
		return
	}
	if row0, row1 = w.part(s, row0, row1); row0 >= row1 {
		return
	}
	if s.rescaled != nil {
		w.rescale(s, row0, row1)
		fresh = false
	}
	for col := 0; col < at.cols; col += s.cols {
		cols := min(s.cols, at.cols-col)
		for _, d := range s.dots {
			w.bringDeep(d, col, cols)
		}
		for row := row0; row < row1; row += s.rows {
			if w.pool.over() {
				return
			}
			rows := min(s.rows, row1-row)
			if s.direct {
				ld := w.plan.refs[s.dst].ld
				w.multiply(s.dots[0], w.data[s.dst], at.off+row*ld+col, ld, row, rows, col, cols, fresh)
				continue
			}
			w.row, w.col = row, col
			for _, d := range s.dots {
				w.multiply(d, d.temp.of(w.mem), 0, d.ld, row, rows, col, cols, true)
			}
			w.write(s, fresh, row, row+rows, col, col+cols)
		}
	}
}

// part is which of some rows of a product step s needs, from one on that a lane of all its
// a begins at.
func (w *worker) part(s *step, row0, row1 int) (first, last int) {
	if !s.stmt.IsPart() {
		return row0, row1
	}
	unit := 1
	for _, d := range s.dots {
		unit = lcm(unit, w.plan.operands[d.a].packing.lanes)
	}
	return max(tile.Eval(s.stmt.From, &w.frame)/unit*unit, row0), min(tile.Eval(s.stmt.To, &w.frame), row1)
}

// write runs the epilogue over a piece of the destination.
func (w *worker) write(s *step, fresh bool, row0, row1, col0, col1 int) {
	if s.stmt.IsPart() {
		row0, row1 = max(row0, tile.Eval(s.stmt.From, &w.frame)), min(row1, tile.Eval(s.stmt.To, &w.frame))
	}
	from := w.now()
	if fresh && s.down != nil {
		for row := row0; row < row1; row += vectorLanes {
			s.down(&w.frame, row, min(vectorLanes, row1-row))
		}
		w.note(timeline.Epilogue, from, s.stmt.Ref.Name)
		return
	}
	out := s.add
	if fresh {
		out = s.store
	}
	for row := row0; row < row1; row++ {
		for col := col0; col < col1; col += s.lanes {
			out(&w.frame, row, col, min(s.lanes, col1-col))
		}
	}
	w.note(timeline.Epilogue, from, s.stmt.Ref.Name)
}
