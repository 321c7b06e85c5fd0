package cpu

import (
	"fmt"

	"matladder/backend"
	"matladder/backend/cpu/internal/probe"
)

// explainLoops lists the loops around the register tile of product d: those of
// compute and multiply and, in package gemm, of vectors, of tiles or of an unpacked b.
func (p *plan) explainLoops(s *step, d *dot) []PlanLoop {
	dst, l := &p.refs[s.dst], p.loopsOf(s, d)
	x, a, b := l.PlanProduct, l.a, l.b
	kept := func(o *operand, deep bool) string {
		if o.keep == keepPiece && o.deep == deep {
			return ": packs a piece of " + p.refs[o.ref].Name
		}
		return ""
	}
	packs := kept(a, false)
	if packs != "" && kept(b, false) != "" {
		packs = ": packs pieces of both"
	} else {
		packs += kept(b, false)
	}
	chunk := "one packed chunk"
	if x.ReadsB {
		chunk += " of a"
	}
	outer := []PlanLoop{
		{ceil(dst.cols, l.cols), fmt.Sprintf("× %d columns of %s%s", l.cols, dst.Name, kept(b, true))},
		{ceil(dst.rows, l.rows), fmt.Sprintf("× %d rows of %s", l.rows, dst.Name)},
		{ceil(x.K1-x.K0, l.depth), fmt.Sprintf("× %d of k, %s%s", l.depth, chunk, packs)},
	}
	switch {
	case x.ReadsB:
		return append(outer, l.direct()...)
	case b.packing.words > 1:
		return append(outer, l.tiles()...)
	}
	return append(outer, l.vectors()...)
}

// loops are those of package gemm for one product of operands a and b: rows × cols
// over depth elements of k.
type loops struct {
	PlanProduct
	a, b              *operand
	rows, cols, depth int
	tileCols          func(rows int) int // where tiles go along rows of b
}

func (p *plan) loopsOf(s *step, d *dot) *loops {
	dst, x := &p.refs[s.dst], p.explainProduct(s, d)
	return &loops{
		PlanProduct: x, a: p.operands[d.a], b: p.operands[d.b], tileCols: d.product.tileCols,
		rows: min(s.rows, dst.rows), cols: min(s.cols, dst.cols), depth: min(x.Depth, x.K1-x.K0),
	}
}

// work is how much of call.work the product writes, in bytes: a packed piece of b, sums
// that are kept from run to run, or two tiles on their way to the output.
func (l *loops) work() int {
	switch {
	case l.Way == ReadPieces:
		return l.bytes(l.Cols, l.b)
	case l.ReadsB || l.b.packing.words == 1:
		return 0
	case l.Run < l.depth:
		return l.sums()
	case l.Streams || l.Copies || l.Narrows || l.Scales:
		return 2 * l.MR * l.NR * l.Sum.Bits() / 8
	}
	return 0
}

// sums are the bytes of those that are kept from run to run.
func (l *loops) sums() int {
	return ceil(l.Rows, l.MR) * l.MR * ceil(l.Cols, l.NR) * l.NR * l.Sum.Bits() / 8
}

// vectors are those of run for vectors.
func (l *loops) vectors() []PlanLoop {
	return []PlanLoop{l.runs(), l.piece(), l.panels(), l.registers()}
}

// tiles are those of run for tiles.
func (l *loops) tiles() []PlanLoop {
	list := []PlanLoop{l.piece()}
	if l.Run < l.depth {
		list = append(list, PlanLoop{ceil(l.cols, l.Cols), fmt.Sprintf("× %d columns of b: their sums, %s, are kept from run to run", l.Cols, backend.FormatBytes(int64(l.sums())))}, l.runs())
	}
	return append(list, l.panels(), l.registers())
}

// direct are those of multiply and BlockDirect, with a b that is not packed.
func (l *loops) direct() []PlanLoop {
	var list []PlanLoop
	where := "where they lie"
	cols := l.cols
	if l.b.widened() {
		cols = min(cols, l.b.piece)
		list = append(list, PlanLoop{ceil(l.cols, cols), fmt.Sprintf("× %d columns of b: widens them", cols)})
		where = "as widened"
	}
	switch l.Way {
	case ReadStreams:
		return append(list, l.runs(), PlanLoop{l.Rows, fmt.Sprintf("× 1 row of a by %d columns of b, along its rows %s", l.Cols, where)})
	case ReadAlong:
		nr := l.tileCols(min(l.Rows, l.MR))
		return append(list, l.runs(), PlanLoop{ceil(l.Rows, l.MR), fmt.Sprintf("× %d rows of a, one panel", l.MR)},
			PlanLoop{ceil(l.Cols, nr), fmt.Sprintf("× %d columns of b, %s: %d×%d sums in registers over %d of k", nr, where, l.MR, nr, l.Run)})
	case ReadPieces:
		return append(list, PlanLoop{ceil(cols, l.Cols), fmt.Sprintf("× %d columns of b", l.Cols)},
			PlanLoop{ceil(l.depth, l.Run), fmt.Sprintf("× %d of k: packs a piece of b, %s", l.Run, fits(l.bytes(l.Cols, l.b)))},
			l.panels(), l.registers())
	}
	return append(list, l.runs(), PlanLoop{ceil(l.Cols, l.NR), fmt.Sprintf("× %d columns of b, %s", l.NR, where)}, l.registers())
}

func (l *loops) runs() PlanLoop {
	return PlanLoop{ceil(l.depth, l.Run), fmt.Sprintf("× %d of k", l.Run)}
}

// piece is the loop over pieces of a that fit L2.
func (l *loops) piece() PlanLoop {
	what := fmt.Sprintf("× %d rows of a, ", l.Rows)
	if l.ReadsA {
		what += "where they lie, "
	}
	return PlanLoop{ceil(l.rows, l.Rows), what + fits(l.bytes(l.Rows, l.a))}
}

// panels is the loop over panels of b.
func (l *loops) panels() PlanLoop {
	return PlanLoop{ceil(l.Cols, l.NR), fmt.Sprintf("× %d columns of b, one panel, %s", l.NR, fits(l.bytes(l.NR, l.b)))}
}

// registers is the loop over panels of a.
func (l *loops) registers() PlanLoop {
	of := "one panel"
	if l.ReadsA {
		of = "where they lie"
	}
	return PlanLoop{ceil(l.Rows, l.MR), fmt.Sprintf("× %d rows of a, %s: %d×%d sums in registers over %d of k", l.MR, of, l.MR, l.NR, l.Run)}
}

// bytes are those of a run of lanes of an operand.
func (l *loops) bytes(lanes int, o *operand) int {
	return ceil(lanes, o.packing.lanes) * o.packing.panel(l.Run)
}

// fits says which cache some bytes fit.
func fits(bytes int) string {
	host := probe.Host()
	switch s := backend.FormatBytes(int64(bytes)); {
	case bytes <= host.L1D:
		return s + ", fits L1"
	case bytes <= host.L2:
		return s + ", fits L2"
	default:
		return s
	}
}
