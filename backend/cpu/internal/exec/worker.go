package exec

import (
	"fmt"
	"math"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/timeline"
	"matladder/internal/float16"
	"matladder/tile"
)

// Worker is the state of one core inside one program: where it is in the grid,
// which blocks it sees, and its own memory.
type Worker struct {
	plan.Frame
	pool *Pool

	tags   [][]int  // by operand: the block in each slot of its own; -1 for none
	caches []*cache // by operand: what workers share; nil for none

	shown            [][2]int // by operand: from which element of k to before which one it counts
	unit, unitPacked []byte   // elements of k of which some do not count: a few rows of memory, and these packed

	finite [][]finiteness // by operand: of its blocks, where bands leave some of them out

	phase    int
	Counters backend.Counters
	record   *recorder // what it does when; nil where nobody asks

	leaves []func()   // of the launch that was taped
	framed int        // the program whose frame the last of them has; 0 for none
	tape   *gemm.Tape // of products

	_ [memory.CacheLine]byte // those of another worker may follow
}

// String is the program that the worker is at: "v1_naive", "v4_optblock, i = 0, j = 2".
func (w *Worker) String() string {
	s := w.Plan.Program.Name
	for i, a := range w.Plan.Program.Grid {
		s += fmt.Sprintf(", %s = %d", a.Name, w.IDs[i])
	}
	return s
}

// enter prepares the worker for a launch.
func (w *Worker) enter() {
	w.Counters = backend.Counters{}
	for i := range w.Places {
		r := &w.Plan.Refs[i]
		w.Places[i] = plan.Place{Block: -1, Rows: r.Rows, Cols: r.Cols}
	}
	for _, tags := range w.tags {
		memory.Fill(tags, -1)
	}
	for _, blocks := range w.finite {
		clear(blocks)
	}
	for i := range w.Wide {
		w.Wide[i].Block = -1
	}
}

// task runs the programs of one point of the parallel axes.
func (w *Worker) task(phase, n int) {
	t := &w.Plan.Tasks
	w.phase = phase
	t.Locate(w.Plan.Program.Grid, phase, n, w.IDs)
	for s := range t.Steps {
		if w.pool.over() {
			return
		}
		plan.Decode(w.Plan.Program.Grid, t.Serial, s, w.IDs)
		from, before := w.now(), w.Counters
		w.Counters.GridSteps++
		w.Programs++
		if !w.idle() {
			w.see()
			w.bring()
			w.run(w.Plan.Steps)
		}
		w.noteStep(from, before)
	}
}

// idle reports whether the current program does nothing, as one beyond the bound of an axis:
// it needs no blocks.
func (w *Worker) idle() bool {
	s := w.Plan.Steps
	return len(s) == 1 && s[0].Kind == plan.StepWhen && s[0].Stmt.Kind == tile.When && !tile.EvalCond(s[0].Cond, &w.Frame)
}

// see moves every ref to its block of the current program.
func (w *Worker) see() {
	for i := range w.Plan.Refs {
		r := &w.Plan.Refs[i]
		if len(r.Index) == 0 {
			continue
		}
		at, next := &w.Places[i], plan.Place{Rows: 1, Cols: 1}
		for d, x := range r.Index {
			b := tile.Eval(x, &w.Frame)
			if b < 0 || b >= r.BlocksAlong[d] {
				panic(plan.ProgramError{Err: fmt.Errorf("%s: %s: block %d of %s along dimension %d: there are %d",
					r.Pos, w.Plan.Program.Name, b, r.Name, d, r.BlocksAlong[d])})
			}
			next.Block = next.Block*r.BlocksAlong[d] + b
			r.Along(&next, d, b)
		}
		if next.Block == at.Block {
			continue
		}
		*at = next
		bytes := r.Dtype.Bytes(int64(at.Rows) * int64(at.Cols))
		switch {
		case r.Main: // copies bring and take it
		case r.Kind == tile.Out:
			w.Counters.BytesStored += bytes
		case !r.CountedPacked:
			w.Counters.BlocksLoaded++
			w.Counters.BytesLoaded += bytes
		}
	}
}

// run executes steps in the current program.
func (w *Worker) run(steps []*plan.Step) {
	for i, s := range steps {
		if w.Taping && (s.Kind == plan.StepFill || s.Kind == plan.StepRowLoop || s.Stmt != nil && s.Stmt.Kind == tile.Start) {
			w.leaf(func() { w.run(steps[i : i+1]) })
			continue
		}
		switch s.Kind {
		case plan.StepFill:
			w.fillRef(s.Dst, s.Stmt.Value.Value)
			w.stored(s)
		case plan.StepCompute:
			w.computeRows(s, 0, w.Places[s.Dst].Rows)
			w.stored(s)
		case plan.StepWhen:
			switch {
			case s.Stmt.Kind == tile.Start:
				w.start(s.Stmt.Copy)
			case s.Stmt.Kind == tile.When && tile.EvalCond(s.Cond, &w.Frame):
				w.run(s.Body)
			}
		case plan.StepRowLoop:
			w.rowLoop(s)
			w.stored(s.Body...)
		case plan.StepStrips:
			w.strips(s)
			w.stored(s.Body...)
		}
	}
}

// fresh reports whether step s stores its value in the current program, rather than adding it.
func (w *Worker) fresh(s *plan.Step) bool {
	return s.Stmt.Kind == tile.Store || s.Zeroed != nil && tile.EvalCond(s.Zeroed, &w.Frame)
}

// computeRows executes a store or an accumulation for rows row0 … row1-1 of the destination.
func (w *Worker) computeRows(s *plan.Step, row0, row1 int) {
	fresh := w.fresh(s)
	at := &w.Places[s.Dst]
	if len(s.Dots) == 0 {
		from, to := w.Columns(s.Dst, at.Cols)
		w.write(s, fresh, row0, row1, from, to)
		return
	}
	if row0, row1 = w.part(s, row0, row1); row0 >= row1 {
		return
	}
	for _, d := range s.Dots {
		w.bringStored(d.B)
		if w.Plan.Operands[d.A].StoredRows {
			w.bringOwn(d.A, row0, row1)
		}
	}
	if s.Rescale != nil {
		w.Taping, fresh = false, false
		for row := row0; row < row1; row += plan.VectorLanes {
			s.Rescale(&w.Frame, row, 0, min(plan.VectorLanes, row1-row), at.Cols)
		}
	}
	from, to := w.Columns(s.Dst, at.Cols)
	for col := from; col < to; col += s.Cols {
		cols := min(s.Cols, to-col)
		for _, d := range s.Dots {
			w.bringDeep(d, col, cols)
		}
		for row := row0; row < row1; row += s.Rows {
			if w.pool.over() {
				return
			}
			rows := min(s.Rows, row1-row)
			if s.Direct {
				ld := w.Plan.Refs[s.Dst].LD
				w.multiply(s.Dots[0], w.Data[s.Dst], at.Off+row*ld+col, ld, row, rows, col, cols, fresh)
				continue
			}
			w.Row, w.Col = row, col
			for _, d := range s.Dots {
				w.multiply(d, d.Temp.Of(w.Mem), 0, d.LD, row, rows, col, cols, true)
			}
			w.write(s, fresh, row, row+rows, col, col+cols)
		}
	}
}

// part is which of some rows of a product step s needs, from one on that a lane of all its
// a begins at.
func (w *Worker) part(s *plan.Step, row0, row1 int) (first, last int) {
	if !s.Stmt.IsPart() {
		return row0, row1
	}
	unit := 1
	for _, d := range s.Dots {
		unit = plan.LCM(unit, w.Plan.Operands[d.A].Packing.Lanes)
	}
	return max(tile.Eval(s.Stmt.From, &w.Frame)/unit*unit, row0), min(tile.Eval(s.Stmt.To, &w.Frame), row1)
}

// write runs the epilogue over a piece of the destination.
func (w *Worker) write(s *plan.Step, fresh bool, row0, row1, col0, col1 int) {
	if w.Taping {
		w.leaf(func() { w.write(s, fresh, row0, row1, col0, col1) })
		return
	}
	first, end := row0, row1
	if s.Stmt.IsPart() {
		first, end = max(row0, tile.Eval(s.Stmt.From, &w.Frame)), min(row1, tile.Eval(s.Stmt.To, &w.Frame))
	}
	from := w.now()
	switch {
	case fresh && s.Down != nil:
		for row := first; row < end; row += plan.VectorLanes {
			s.Down(&w.Frame, row, min(plan.VectorLanes, end-row))
		}
	case fresh && s.StoreRows != nil:
		for row := first; row < end; row += s.AtOnce {
			s.StoreRows(&w.Frame, row, col0, min(s.AtOnce, end-row), col1-col0)
		}
	default:
		out := s.Add
		if fresh {
			out = s.Store
		}
		for row := first; row < end; row++ {
			for col := col0; col < col1; col += s.Lanes {
				w.Ask()
				out(&w.Frame, row, col, min(s.Lanes, col1-col))
			}
		}
	}
	w.note(timeline.Epilogue, from, s.Stmt.Ref.Name)
}

// fillRef sets the current block of ref r to v.
func (w *Worker) fillRef(r int, v float64) {
	d := w.Plan.Refs[r].Dtype
	switch v = d.Round(v); d {
	case tile.Float32:
		fillRows(w, r, float32(v))
	case tile.BFloat16:
		fillRows(w, r, uint16(math.Float32bits(float32(v))>>16))
	case tile.Float16:
		fillRows(w, r, float16.Round(float32(v)))
	case tile.Float8E8M0FNU:
		fillRows(w, r, d.Code(v))
	case tile.Int32:
		fillRows(w, r, int32(v))
	case tile.Int8:
		fillRows(w, r, int8(v))
	case tile.Uint8:
		fillRows(w, r, uint8(v))
	}
}

func fillRows[T any](w *Worker, r int, v T) {
	at, ld := &w.Places[r], w.Plan.Refs[r].LD
	data := memory.View[T](w.Data[r])
	for i := range at.Rows {
		memory.Fill(data[at.Off+i*ld:][:at.Cols], v)
	}
}
