package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// matrices finds the matrix in each ref.
func matrices(p *plan.Plan) error {
	copied := p.Program.Copied()
	for _, r := range p.Program.Refs {
		s := plan.Matrix{Ref: r, Rows: 1, Cols: 1, RowDim: -1, ColDim: -1}
		if r.Kind == tile.Table {
			s.Cols = r.Array[0]
			p.Refs = append(p.Refs, s)
			continue
		}
		shape := r.Shape()
		switch len(shape) {
		case 0:
		case 1:
			s.Cols, s.ColDim = shape[0], r.ArrayDim(0)
		case 2:
			s.Rows, s.RowDim = shape[0], r.ArrayDim(0)
			s.Cols, s.ColDim = shape[1], r.ArrayDim(1)
		default:
			return p.Unsupported(r.Pos, "%s has a block of rank %d: at most 2", r.Name, len(shape))
		}
		if r.Kind == tile.Scratch {
			if s.LD = scratchStride(s.Cols); s.Cols == 1 && r.Dtype == tile.Float32 {
				s.LD = 1 // a column lies in one piece
			}
			if slices.Contains(copied, r) {
				s.LD = s.Cols // as in main memory
			}
			p.Refs = append(p.Refs, s)
			continue
		}
		if s.ColDim >= 0 && s.ColDim != len(r.Array)-1 {
			return p.Unsupported(r.Pos, "%s has a block whose rows are not contiguous in memory", r.Name)
		}
		s.Strides = plan.Strides(r.Array)
		if strides := p.Machine.Layout.Strides[r.Name]; strides != nil {
			copy(s.Strides, strides)
		}
		if s.RowDim >= 0 {
			s.LD = s.Strides[s.RowDim]
		}
		s.BlocksAlong = r.Blocks()
		for _, x := range r.Index { // blocks that overlap are for a table to place, which knows what each stores
			if r.Kind == tile.Out && !r.Overlap() && looksUpAcross(x) {
				return p.Unsupported(r.Pos, "output %s is placed by a scalar table along a parallel axis", r.Name)
			}
		}
		p.Refs = append(p.Refs, s)
	}
	return nil
}

// scratchStride pads rows so that those of one column do not all fall into one
// set of the cache.
func scratchStride(cols int) int {
	const line = 16
	ld := (cols + line - 1) / line * line
	if ld%256 == 0 {
		ld += line
	}
	return ld
}

// looksUpAcross reports whether a table may send programs of several workers to one
// block. Programs along arbitrary axes are of one worker, which a table may send back
// and forth.
func looksUpAcross(x tile.IndexExpr) bool {
	found := false
	tile.WalkIndex(x, func(x tile.IndexExpr) {
		if l, ok := x.(tile.Lookup); ok {
			found = found || slices.ContainsFunc(tile.AxesIn(l.At), func(a *tile.Axis) bool { return a.Semantics == tile.Parallel && a.Size > 1 })
		}
	})
	return found
}
