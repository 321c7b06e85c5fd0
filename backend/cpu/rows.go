package cpu

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// readRows decides which a is not packed: one whose rows register tiles read as they lie
// in memory. Then no worker waits for another's packing if each has columns of b of
// its own, which it packs itself, so that the grid is gone through by columns.
func readRows(p *plan) error {
	columns := true // all products read a where it lies
	for i, o := range p.operands {
		if o.isB {
			continue
		}
		if o.packed = p.packsRows(i); o.packed == "" {
			o.keep = keepUnpacked
		} else {
			columns = false
		}
	}
	p.byColumns = columns && len(p.operands) > 0 && p.manyColumns()
	return nil
}

// Why an a is packed.
const (
	whyVectors     = "this micro-kernel reads it in no other way"
	whyNoCache     = "no packed block is to be shared"
	whyTransposed  = "it is transposed"
	whySet         = "all its rows would fall into one set of the L1 cache"
	whySteps       = "along k its blocks are not whole rows of tiles"
	whyManyColumns = "so many columns of b meet a block that packing pays"
	whyEdge        = "the last columns of b go along panels of it"
	whyChosen      = "asked for"
)

// rowsColumns is up to how many columns of b vectors had better read rows of a as they
// lie. Packed, they come a little faster, and packing takes as long as the multiplying by
// 8 to 12 columns (AVX2).
const rowsColumns = 1024

// packsRows says why a product does not read the rows of operand i, an a, as they lie;
// "" if every product with it does.
func (p *plan) packsRows(i int) string {
	o := p.operands[i]
	r := &p.refs[o.ref]
	reads, edge, columns := true, false, 0
	var steps []int        // elements of k of arrays
	if r.Kind == tile.In { // else it is as deep as blocks of b are
		steps = append(steps, r.Array[r.dim(false)])
	}
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if d.a == i {
				b := p.operands[d.b]
				if k := p.refs[b.ref].dim(b.columns); k >= 0 {
					steps = append(steps, p.refs[b.ref].Array[k])
				}
				reads = reads && p.readsRows(d, r.rows)
				edge = edge || p.endsInEdge(d, b)
				columns = max(columns, p.lanesOfBlock(&p.refs[b.ref], r, !b.columns))
			}
		}
	})
	switch {
	case !reads:
		return whyVectors
	case p.machine.cacheBytes == 0:
		return whyNoCache
	case o.columns:
		return whyTransposed
	}
	for _, elements := range append(steps, r.cols, o.part) {
		if elements%o.packing.unit != 0 {
			return whySteps
		}
	}
	switch {
	case p.machine.choices.readA == readAPacked:
		return whyChosen
	case p.machine.choices.readA == readARows:
		return ""
	case sameSet(r.ld * r.Dtype.Bits() / 8):
		return whySet
	case edge:
		return whyEdge
	case o.packing.words == 1 && columns > rowsColumns:
		return whyManyColumns
	}
	return ""
}

// readsRows reports whether the micro-kernel of product d can read so many rows of an a
// that is not packed.
func (p *plan) readsRows(d *dot, rows int) bool {
	b := p.operands[d.b]
	if b.keep != keepUnpacked {
		return d.product.readsA
	}
	return d.product.readsBoth && d.product.readB(rows, p.strideOf(b)) == gemm.ReadPieces
}

// endsInEdge reports whether a block of b ends with columns that want panels of a.
func (p *plan) endsInEdge(d *dot, b *operand) bool {
	r := &p.refs[b.ref]
	i := r.dim(!b.columns)
	if i < 0 {
		return d.product.wantsPanels(b.lanes)
	}
	size := r.BlockSize(i)
	return d.product.wantsPanels(min(size, r.Array[i])) || d.product.wantsPanels(r.Array[i]%size)
}

// sameSet reports whether lines that lie bytes apart are all in the same set of
// an L1 cache, which has 64 of them: a tile of such rows drives out what the
// cache holds.
func sameSet(bytes int) bool { return bytes%4096 == 0 }

// manyColumns reports whether the blocks of b along the parallel axes go round
// about evenly.
func (p *plan) manyColumns() bool {
	n := 0
	for _, o := range p.operands {
		if o.isB {
			n = p.extent(&p.refs[o.ref], tile.Parallel)
		}
	}
	w := p.machine.workers
	return n%w == 0 || n >= 4*w
}

func (p *plan) tellRows() []string {
	var lines []string
	for _, o := range p.operands {
		switch name := p.refs[o.ref].Name; {
		case o.isB: // pass skinny
		case o.keep == keepUnpacked:
			lines = append(lines, name+" not packed: tiles load its rows where they lie")
		default:
			lines = append(lines, name+" packed: "+o.packed)
		}
	}
	return or(lines, "no product")
}
