package exec

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
)

// rowLoop executes steps strip by strip of rows. What one writes may have fewer rows than what
// another does, where a block overhangs.
func (w *Worker) rowLoop(steps []*plan.Step) {
	rows := 0
	for _, s := range steps {
		rows = max(rows, w.Places[s.Dst].Rows)
	}
	for row := 0; row < rows; row += steps[0].Strip {
		for _, s := range steps {
			at := &w.Places[s.Dst]
			w.write(s, w.fresh(s), row, min(row+s.Strip, at.Rows), 0, at.Cols)
		}
	}
}

// strips executes steps strip by strip of rows.
func (w *Worker) strips(g *plan.Step) {
	rows := 0
	for _, s := range g.Body {
		rows = max(rows, w.Places[s.Dst].Rows)
	}
	for row := 0; row < rows; row += g.Strip {
		if g.Band != nil {
			w.narrow(g.Band, row, min(row+g.Strip, rows))
		}
		for _, s := range g.Body {
			last := min(row+g.Strip, w.Places[s.Dst].Rows)
			if len(s.Adds) > 0 && w.Seen.Band != nil && !w.addsNothing(s, row, last) {
				w.widen(row, min(row+g.Strip, rows))
			}
			w.computeRows(s, row, last)
		}
		w.Seen = plan.Seen{}
	}
}

// rescale multiplies rows of s's destination by their factors.
func (w *Worker) rescale(s *plan.Step, row0, row1 int) {
	at, ld := &w.Places[s.Dst], w.Plan.Refs[s.Dst].LD
	dst := memory.View[float32](w.Data[s.Dst])[at.Off:]
	for row := row0; row < row1; row += plan.VectorLanes {
		for i, by := range s.Rescaled(&w.Frame, row, 0, min(plan.VectorLanes, row1-row)) {
			if by != 1 {
				x := dst[(row+i)*ld:][:at.Cols]
				w.Plan.Loops.Scale(x, x, by)
			}
		}
	}
}
