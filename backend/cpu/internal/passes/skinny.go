package passes

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// skinny decides which b is not packed: one whose blocks each meet so few rows of
// a, in all programs together, that packing would take longer than multiplying.
// Its rows must be rows of memory, or its columns if the micro-kernel reads along these.
func skinny(p *plan.Plan) error {
	plan.AllSteps(p.Steps, func(s *plan.Step) {
		for _, d := range s.Dots {
			a, b := p.Operands[d.A], p.Operands[d.B]
			all := rowsMet(p, s, &p.Refs[a.Ref], &p.Refs[b.Ref], !a.Columns)
			b.Meets += all * (d.K1 - d.K0) // of as many elements of k
			b.Pays = d.Product.Unpacked.Rows()
		}
	})
	for _, o := range p.Operands {
		if o.IsB && (o.Packing.Dots || o.Columns && o.Meets <= o.Pays*o.K) {
			o.Keep = plan.KeepUnpacked
		}
	}
	return nil
}

// rowsMet is how many lanes of a, rows or columns of memory, meet one block of b in step s
// over the whole grid. Where each program stores some rows alone, as those of a group, each
// row of the output is computed once; and where b is scratch, each program meets another.
func rowsMet(p *plan.Plan, s *plan.Step, a, b *plan.Matrix, rows bool) int {
	n := lanesOfBlock(p, a, b, rows)
	if b.Kind == tile.Scratch {
		n = a.Lanes(rows)
	}
	dst := &p.Refs[s.Dst]
	if !s.Stmt.IsPart() || dst.RowDim < 0 {
		return n
	}
	all := dst.Array[dst.RowDim]
	for d, blocks := range dst.BlocksAlong {
		if d != dst.RowDim {
			all *= blocks
		}
	}
	return min(n, tile.Ceil(all, b.BlockCount()))
}

// lanesOfBlock is how many lanes of x, rows or columns of memory, meet one block of the
// other operand over the whole grid, if programs are spread evenly over the blocks of
// both.
func lanesOfBlock(p *plan.Plan, x, other *plan.Matrix, rows bool) int {
	programs := 1
	for _, axis := range p.Program.Grid {
		programs *= axis.Size
	}
	lanes, blocks := x.Lanes(rows), 1
	if dim := x.Dim(rows); dim >= 0 && x.Kind != tile.Scratch && x.Step(dim) == x.BlockSize(dim) {
		lanes, blocks = x.Array[dim], x.BlocksAlong[dim]
	}
	sharing := tile.Ceil(programs, other.BlockCount())
	return tile.Ceil(sharing*lanes, blocks)
}
