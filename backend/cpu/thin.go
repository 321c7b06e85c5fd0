package cpu

import "matladder/tile"

// thin decides which b is not packed: one whose blocks each meet so few rows of
// a, in all programs together, that packing would take longer than multiplying.
// Its rows must be rows of memory, as the micro-kernel reads along them.
func thin(p *plan) error {
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			a, b := p.operands[d.a], p.operands[d.b]
			all := p.lanesOfBlock(&p.refs[a.ref], &p.refs[b.ref], !a.columns)
			b.meets += all * (d.k1 - d.k0) // of as many elements of k
			b.pays = d.product.directRows
		}
	})
	for _, o := range p.operands {
		if o.isB && o.columns && o.meets <= o.pays*o.k {
			o.keep = keepUnpacked
		}
	}
	return nil
}

// strideOf is how far rows of a b that is not packed are apart where micro-kernels read
// it, in elements.
func (p *plan) strideOf(b *operand) int {
	if b.widened() {
		return b.wideStride()
	}
	return p.refs[b.ref].ld
}

// lanesOfBlock is how many lanes of x, rows or columns of memory, meet one block of the
// other operand over the whole grid, if programs are spread evenly over the blocks of
// both.
func (p *plan) lanesOfBlock(x, other *ref, rows bool) int {
	programs := 1
	for _, axis := range p.program.Grid {
		programs *= axis.Size
	}
	lanes, blocks := x.rows, 1
	if !rows {
		lanes = x.cols
	}
	if dim := x.dim(rows); dim >= 0 && x.Kind != tile.Scratch {
		lanes, blocks = x.Array[dim], x.blocks[dim]
	}
	sharing := ceil(programs, other.blockCount())
	return ceil(sharing*lanes, blocks)
}
