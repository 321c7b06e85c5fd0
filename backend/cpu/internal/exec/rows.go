package exec

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// rowLoop executes steps strip by strip of rows. What one writes may have fewer rows than what
// another does, where a block overhangs.
func (w *Worker) rowLoop(g *plan.Step) {
	steps, rows, parts := g.Body, 0, 0
	for _, s := range steps {
		rows = max(rows, w.Places[s.Dst].Rows)
		parts += s.Passes*g.Strip + s.Sums
		if s.AtOnce > 0 {
			parts += tile.Ceil(g.Strip, s.AtOnce)
		}
	}
	for row := 0; row < rows; row += g.Strip {
		w.Prefetches = w.Prefetches[:0]
		for _, r := range g.Asks {
			data, bytes := w.Data[r], w.Plan.Refs[r].LD*w.Plan.Refs[r].Dtype.Bits()/8
			from := min(w.Places[r].Off*w.Plan.Refs[r].Dtype.Bits()/8+(row+g.Strip)*bytes, len(data))
			w.Prefetches = append(w.Prefetches, memory.NewPrefetch(data[from:min(from+g.Strip*bytes, len(data))], parts))
		}
		for _, s := range steps {
			at := &w.Places[s.Dst]
			for _, r := range s.Widens {
				w.widenRows(r, row, row+s.Strip)
			}
			if s.Keeps {
				w.Wide[s.Dst].From, w.Wide[s.Dst].To = row, min(row+s.Strip, at.Rows)
			}
			w.write(s, w.fresh(s), row, min(row+s.Strip, at.Rows), 0, at.Cols)
		}
	}
	for _, s := range steps {
		for _, r := range s.Widens {
			w.Wide[r].To = 0
		}
		if s.Keeps {
			w.Wide[s.Dst].To = 0
		}
	}
	w.Prefetches = w.Prefetches[:0]
}

// widenRows widens rows row0 … row1-1 of the current block of ref r, or the only one; what
// the block has beyond the array is zero.
func (w *Worker) widenRows(r, row0, row1 int) {
	x, at, ld := &w.Wide[r], &w.Places[r], w.Plan.Refs[r].LD
	if w.Plan.IsAlone(r) {
		if row0, row1 = 0, 1; x.Block == at.Block {
			x.To = 1
			return
		}
		x.Block = at.Block
	}
	x.From, x.To = row0, row1
	for row := row0; row < row1; row++ {
		wide, have := x.Row(row, 0, x.LD), 0
		if row < at.Rows {
			have = at.Cols
			w.Plan.Loops.FromBFloat16(wide[:have], memory.View[uint16](w.Data[r])[at.Off+row*ld:][:have])
		}
		clear(wide[have:])
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
			w.Taping = false // what it leaves out is in arrays
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
