package exec

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// narrow has steps go over the columns alone in which rows row0 … row1-1 have more than one
// number, and one more.
func (w *Worker) narrow(b *plan.Band, row0, row1 int) {
	from, to := b.Cols, 0
	for row := row0; row < row1; row++ {
		if first, last := b.Span(&w.Frame, row); first < last {
			from, to = min(from, first), max(to, last)
		}
	}
	from, to = max(from, 0), min(to, b.Cols)
	if from >= to { // in no row
		from, to = 0, 0
	}
	beside := to
	if to < b.Cols {
		to++
	} else { // so the column is ahead
		from--
		beside = from
	}
	first, last := from/b.Unit*b.Unit, min(tile.Ceil(to, b.Unit)*b.Unit, b.Cols)
	if from >= 0 && last-first < b.Cols {
		w.Seen = plan.Seen{Band: b, From: first, To: last, Beside: beside}
	}
}

// addsNothing reports whether what step s would add of columns that no step goes over is
// zero: each row has that number there, and so have all products with it.
func (w *Worker) addsNothing(s *plan.Step, row0, row1 int) bool {
	for _, r := range s.Adds {
		at, ld := w.Places[r].Off+w.Seen.Beside, w.Plan.Refs[r].LD
		for row := row0; row < row1; row++ {
			if !w.isZero(r, at+row*ld) {
				return false
			}
		}
	}
	for _, d := range s.Dots {
		if w.Seen.Band.Of[w.Plan.Operands[d.A].Ref] && !w.isFinite(d.B) {
			return false
		}
	}
	return true
}

// isZero reports whether element i of ref r, of floats, is zero.
func (w *Worker) isZero(r, i int) bool {
	if w.Plan.Refs[r].Dtype == tile.BFloat16 {
		return memory.View[uint16](w.Data[r])[i]<<1 == 0
	}
	return memory.View[float32](w.Data[r])[i] == 0
}

// widen completes rows row0 … row1-1, and steps go over all columns again.
func (w *Worker) widen(row0, row1 int) {
	for r, of := range w.Seen.Band.Of {
		switch {
		case of && w.Plan.Refs[r].Dtype == tile.BFloat16:
			complete[uint16](w, r, row0, row1)
		case of:
			complete[float32](w, r, row0, row1)
		}
	}
	w.Seen = plan.Seen{}
}

func complete[T any](w *Worker, r, row0, row1 int) {
	at, ld := &w.Places[r], w.Plan.Refs[r].LD
	for row := row0; row < row1; row++ {
		x := memory.View[T](w.Data[r])[at.Off+row*ld:][:w.Seen.Band.Cols]
		memory.Fill(x[:w.Seen.From], x[w.Seen.Beside])
		memory.Fill(x[w.Seen.To:], x[w.Seen.Beside])
	}
}

// finiteness is what is known of rows from … to-1 of a block: whether they have no infinity and
// no NaN.
type finiteness struct {
	from, to      int
	known, finite bool
}

// isFinite reports whether zero times any element of the current block of operand i, an
// input, that counts is zero. It looks at a block once in a launch, unless others of its
// elements count than the last time.
func (w *Worker) isFinite(i int) bool {
	o := w.Plan.Operands[i]
	at, r := &w.Places[o.Ref], &w.Plan.Refs[o.Ref]
	if c := w.caches[i]; c != nil && c.full { // the array is not there
		return false
	}
	x := finiteness{to: at.Rows, known: true, finite: true}
	if o.Shown.From != nil {
		x.from, x.to = w.shown[i][0], min(x.to, w.shown[i][1])
	}
	last := &w.finite[i][at.Block]
	if !last.known || last.from != x.from || last.to != x.to {
		for row := x.from; row < x.to && x.finite; row++ {
			x.finite = w.magnitude(o.Ref, at.Off+row*r.LD, at.Cols) <= math.MaxFloat32
		}
		*last = x
	}
	return last.finite
}

// magnitude is the largest of n elements of ref r from off on.
func (w *Worker) magnitude(r, off, n int) float32 {
	data := w.Data[r]
	if w.Plan.Refs[r].Dtype == tile.BFloat16 {
		return w.Plan.Loops.AbsMaxBFloat16(memory.View[uint16](data)[off:][:n])
	}
	return w.Plan.Loops.AbsMax(memory.View[float32](data)[off:][:n])
}
