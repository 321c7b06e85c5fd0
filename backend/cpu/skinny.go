package cpu

import (
	"fmt"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// skinny decides which b is not packed: one whose blocks each meet so few rows of
// a, in all programs together, that packing would take longer than multiplying.
// Its rows must be rows of memory, as the micro-kernel reads along them.
func skinny(p *plan) error {
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

// readsOf are the ways in which products read operand i, a B that is not packed as a
// whole.
func (p *plan) readsOf(i int) []gemm.ReadB {
	var reads []gemm.ReadB
	p.eachDot(func(s shownStep, d *dot) {
		if d.b == i && p.operands[i].keep == keepUnpacked {
			reads = appendNew(reads, p.callOf(s.step, d).read)
		}
	})
	return reads
}

func (p *plan) tellThin() []string {
	var lines []string
	for i, o := range p.operands {
		if !o.isB { // pass rows
			continue
		}
		// Where b is packed for a path that reads it in no other way, another path might
		// have read it in place.
		pays, on := o.pays, ""
		p.eachDot(func(_ shownStep, d *dot) {
			if d.b == i && pays == 0 && d.thin != nil && d.thin != d.product && d.thin.directRows > 0 {
				pays, on = d.thin.directRows, ", on "+d.thin.name
			}
		})
		name, meets, unpacked := p.refs[o.ref].Name, plural(ceil(o.meets, o.k), "row"), o.keep == keepUnpacked
		var ways []string
		for _, read := range p.readsOf(i) {
			ways = append(ways, strategyOf(read).what)
		}
		how := strings.Join(ways, ", or ")
		if o.widened() {
			how = "widened in pieces, each " + how
		}
		var options []option
		p.eachDot(func(_ shownStep, d *dot) {
			if d.b == i && options == nil {
				options = d.options
			}
		})
		if !unpacked {
			how = "packed"
		}
		switch {
		case options != nil:
			lines = append(lines, fmt.Sprintf("%s %s: its blocks meet %s of a; estimated at %s", name, how, meets, tellOptions(options)))
		case unpacked && o.pays >= gemm.AllRows:
			lines = append(lines, fmt.Sprintf("%s %s: asked for; its blocks meet %s of a", name, how, meets))
		case !unpacked && o.columns && p.machine.choices.B == gemm.ReadPacked:
			lines = append(lines, fmt.Sprintf("%s packed: asked for; its blocks meet %s of a", name, meets))
		case unpacked:
			lines = append(lines, fmt.Sprintf("%s %s: its blocks meet %s of a; up to %d packing them whole takes longer than it saves", name, how, meets, pays))
		case !o.columns:
			lines = append(lines, name+" packed: it is transposed")
		case pays == 0:
			lines = append(lines, name+" packed: this micro-kernel reads it in no other way")
		default:
			lines = append(lines, fmt.Sprintf("%s packed: its blocks meet %s of a; up to %d it would be faster not to pack them whole%s", name, meets, pays, on))
		}
	}
	return or(lines, "no product")
}
