package cpu

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
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
	whyChanges     = "it is scratch"
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
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if d.a == i {
				b := p.operands[d.b]
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
	case r.Kind != tile.In:
		return whyChanges
	case o.columns:
		return whyTransposed
	}
	k := r.dim(false)
	for _, elements := range []int{r.Array[k], r.BlockSize(k), o.part} {
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
	if p.operands[d.b].keep != keepUnpacked {
		return d.product.readsA
	}
	return d.product.readsBoth && d.product.directWay(rows) == gemm.DirectPieces
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

// stream finds the outputs that a product writes once and rounds as it does, and
// those so large that the second-level cache would not hold them until they are
// needed.
func stream(p *plan) error {
	allSteps(p.steps, func(s *step) {
		if len(s.dots) != 1 || !p.writtenOnce(&p.refs[s.dst]) {
			return
		}
		r, d := &p.refs[s.dst], s.dots[0]
		if p.narrows(s) {
			s.direct, d.narrow = true, true
		} else if d.scales = p.scales(s); d.scales != nil {
			s.direct = true
		}
		aligned := d.narrow || d.scales != nil || d.product.streams(r.ld) && d.product.streams(r.cols) // rows of every block
		if !aligned || !s.direct {
			return
		}
		switch choice := p.machine.choices.writeC; {
		case choice == writePast, choice == writeByRule && r.ArrayBytes() > int64(probe.Host().L2):
			d.write = gemm.WritePast
		case choice == writeCopied && !d.narrow && d.scales == nil: // those are in any case
			d.write = gemm.WriteCopied
		}
	})
	return nil
}

// narrows reports whether step s, which writes an output once, is a product that
// tiles can round to bfloat16 as they write it.
func (p *plan) narrows(s *step) bool {
	dst, d, v := &p.refs[s.dst], s.dots[0], s.stmt.Value
	if s.stmt.Kind == tile.Store && v.Op == tile.OpCast && v.Dtype == tile.BFloat16 {
		v = v.Args[0]
	}
	switch {
	case dst.Dtype != tile.BFloat16 || v != d.expr || v.Dtype != tile.Float32 || d.product.narrow == nil:
		return false
	case s.stmt.Kind == tile.Accumulate && (s.zeroed == nil || !always(s.zeroed)):
		return false
	}
	return p.whole(s)
}

// whole reports whether step s computes whole panels of a product, over all of k at
// once.
func (p *plan) whole(s *step) bool {
	dst, d := &p.refs[s.dst], s.dots[0]
	a, b := p.operands[d.a], p.operands[d.b]
	const whole = 32 // rows and columns of a panel, and elements of a cache line
	for _, r := range []*ref{dst, &p.refs[a.ref], &p.refs[b.ref]} {
		if r.Kind == tile.Scratch {
			if r.rows%whole != 0 || r.cols%whole != 0 {
				return false
			}
			continue
		}
		for i, n := range r.Array {
			if size := r.BlockSize(i); n%size != 0 || size%whole != 0 && size > 1 {
				return false
			}
		}
	}
	return a.depth >= a.k && b.depth >= b.k && d.k0 == 0 && d.k1 >= a.k && dst.ld%whole == 0
}

// writtenOnce reports whether r is an output each of whose blocks is seen by one
// program only.
func (p *plan) writtenOnce(r *ref) bool {
	if r.Kind != tile.Out {
		return false
	}
	for _, a := range p.program.Grid {
		if a.Size > 1 && !r.dependsOn(a) {
			return false
		}
	}
	return true
}
