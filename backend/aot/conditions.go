package aot

import (
	"slices"

	"matladder/backend/aot/schedule"
	"matladder/lower/mosaic"
	"matladder/tile"
)

// conditions are the parts of all steps in which each conditional region of a
// kernel's body runs: those of the program's own conditions (shares, of
// analyze.Work), and where a Dot contracts over the end of an array the plain and
// the masked copy that lower/mosaic writes of its statement.
func conditions(p *tile.Program, shares []float64) []float64 {
	overhangs := p.Overhangs()
	var all []float64
	for i, s := range p.Body {
		if s.Kind == tile.When && len(shares) > 0 {
			if !mosaic.Begins(p.Body, i) {
				all = append(all, shares[0])
			}
			shares = shares[1:]
			continue
		}
		if s.Value == nil {
			continue
		}
		steps := 0 // of the axis along which a block ends inside its array in the last
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			if e.Op != tile.OpDot {
				return
			}
			for _, edge := range overhangs.Contraction(e) {
				if a, ok := edge.Ref.Index[edge.Ref.ArrayDim(edge.Dim)].(*tile.Axis); ok {
					steps = max(steps, a.Size)
				}
			}
		})
		if steps > 1 {
			all = append(all, 1-1/float64(steps), 1/float64(steps))
		}
	}
	return all
}

// overhangs reports whether an output has blocks that end outside of it. Their
// copy is a region of its own behind the program's.
func overhangs(p *tile.Program) bool {
	return slices.ContainsFunc(p.RefsOf(tile.Out), func(r *tile.Ref) bool {
		for dim := range r.Shape() {
			if r.Overhangs(dim) {
				return true
			}
		}
		return false
	})
}

// shared are the shares of a schedule's conditional regions. Conditions that always
// or never hold are no regions where the compiler sees it.
func (k kernel) shared(s *schedule.Schedule) []float64 {
	regions, shares := len(s.Conditional()), k.shares
	if len(shares) > regions || k.overhangs && len(shares) >= regions {
		shares = slices.DeleteFunc(slices.Clone(shares), func(x float64) bool { return x == 0 || x == 1 })
	}
	if k.overhangs && len(shares) == regions-1 {
		shares = append(slices.Clone(shares), 1)
	}
	return shares
}
