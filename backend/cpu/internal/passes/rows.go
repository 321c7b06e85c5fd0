package passes

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// readRows decides which a is not packed: one whose rows register tiles read as they lie
// in memory. The grid then goes by columns: each worker packs its own columns of b, and waits
// for nobody.
func readRows(p *plan.Plan) error {
	columns := true // all products read a where it lies
	for i, o := range p.Operands {
		if o.IsB {
			continue
		}
		if o.Packed = packsRows(p, i); o.Packed == "" {
			o.Keep = plan.KeepUnpacked
		} else {
			columns = false
		}
	}
	p.ByColumns = columns && len(p.Operands) > 0 && manyColumns(p)
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

// RowsColumns is up to how many columns of b vectors had better read rows of a as they
// lie. Packed, they come a little faster, and packing takes as long as the multiplying by
// 8 to 12 columns (AVX2).
const RowsColumns = 1024

// packsRows says why a product does not read the rows of operand i, an a, as they lie;
// "" if every product with it does.
func packsRows(p *plan.Plan, i int) string {
	o := p.Operands[i]
	r := &p.Refs[o.Ref]
	reads, edge, columns := true, false, 0
	var steps []int        // elements of k of arrays
	if r.Kind == tile.In { // else it is as deep as blocks of b are
		steps = append(steps, r.Array[r.Dim(false)])
	}
	for _, d := range p.AllDots() {
		if d.A == i {
			b := p.Operands[d.B]
			if k := p.Refs[b.Ref].Dim(b.Columns); k >= 0 {
				steps = append(steps, p.Refs[b.Ref].Array[k])
			}
			reads = reads && readsRows(p, d, r.Rows)
			edge = edge || endsInEdge(p, d, b, r.Rows)
			columns = max(columns, lanesOfBlock(p, &p.Refs[b.Ref], r, !b.Columns))
		}
	}
	switch {
	case o.Packing.AsItLies:
		return ""
	case !reads:
		return whyVectors
	case p.Machine.CacheBytes == 0:
		return whyNoCache
	case o.Columns:
		return whyTransposed
	}
	for _, elements := range append(steps, r.Cols, o.Part) {
		if elements%o.Packing.Unit != 0 {
			return whySteps
		}
	}
	switch {
	case p.Machine.Choices.ReadA == plan.ReadAPacked:
		return whyChosen
	case p.Machine.Choices.ReadA == plan.ReadARows:
		return ""
	case sameSet(r.LD * r.Dtype.Bits() / 8):
		return whySet
	case edge:
		return whyEdge
	case o.Packing.Words == 1 && columns > RowsColumns:
		return whyManyColumns
	}
	return ""
}

// readsRows reports whether the micro-kernel of product d can read so many rows of an a
// that is not packed.
func readsRows(p *plan.Plan, d *plan.Dot, rows int) bool {
	b := p.Operands[d.B]
	if b.Keep != plan.KeepUnpacked || !d.Product.ReadsA {
		return d.Product.ReadsA
	}
	return !b.Packing.InPlace && d.Product.Unpacked.Read(rows, p.StrideOf(b)) != gemm.ReadDots
}

// endsInEdge reports whether a block of b ends with columns that want panels of a, so many rows of
// which meet it.
func endsInEdge(p *plan.Plan, d *plan.Dot, b *plan.Operand, rows int) bool {
	r, packed := &p.Refs[b.Ref], b.Keep != plan.KeepUnpacked
	if !packed && d.Product.Unpacked.Read(rows, p.StrideOf(b)) != gemm.ReadPieces {
		return false
	}
	i := r.Dim(!b.Columns)
	if i < 0 {
		return d.Product.WantsPanels(b.Lanes, packed)
	}
	size := r.BlockSize(i)
	if r.Overlap() { // they may end anywhere
		return d.Product.WantsPanels(1, packed)
	}
	return d.Product.WantsPanels(min(size, r.Array[i]), packed) || d.Product.WantsPanels(r.Array[i]%size, packed)
}

// sameSet reports whether lines that lie bytes apart are all in the same set of
// an L1 cache, which has 64 of them: a tile of such rows drives out what the
// cache holds.
func sameSet(bytes int) bool { return bytes%4096 == 0 }

// manyColumns reports whether the blocks of b along the parallel axes go round
// about evenly.
func manyColumns(p *plan.Plan) bool {
	n := 0
	for _, o := range p.Operands {
		if o.IsB {
			n = extent(p, &p.Refs[o.Ref], tile.Parallel)
		}
	}
	w := p.Machine.Workers
	return n%w == 0 || n >= 4*w
}
