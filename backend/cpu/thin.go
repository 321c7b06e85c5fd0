package cpu

import "matladder/tile"

// thin decides which b is not packed: one whose blocks each meet so few rows of
// a, in all programs together, that packing would take longer than multiplying.
// Its rows must be rows of memory, as the micro-kernel reads along them.
func thin(p *plan) error {
	rows := make([]int, len(p.operands)) // that meet one of its blocks
	most := make([]int, len(p.operands)) // for which it is not packed
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			rows[d.b] += p.rowsOfBlock(d)
			most[d.b] = d.product.directRows
		}
	})
	for i, o := range p.operands {
		if o.isB && o.columns && rows[i] <= most[i] {
			o.keep = keepUnpacked
		}
	}
	return nil
}

// rowsOfBlock is how many rows of a meet one block of b over the whole grid, if
// programs are spread evenly over the blocks of both.
func (p *plan) rowsOfBlock(d *dot) int {
	programs := 1
	for _, axis := range p.program.Grid {
		programs *= axis.Size
	}
	a, b := p.operands[d.a], p.operands[d.b]
	rows, blocks := a.lanes, 1
	if dim := p.refs[a.ref].dim(!a.columns); dim >= 0 && p.refs[a.ref].Kind != tile.Scratch {
		rows, blocks = p.refs[a.ref].Array[dim], p.refs[a.ref].blocks[dim]
	}
	sharing := ceil(programs, p.refs[b.ref].blockCount())
	return ceil(sharing*rows, blocks)
}
