package cpu

import (
	"fmt"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
)

// A loop is one around the register tile of a step, for whole blocks.
type loop struct {
	count int
	what  string
}

// loops prints the loops around the register tile of each step with a product.
func (t *text) loops(p *plan) {
	for _, s := range p.shown() {
		if len(s.dots) == 0 {
			continue
		}
		what := ""
		if s.times > 1 {
			what = fmt.Sprintf(", the first of %d products", s.times)
		}
		lines := []string{fmt.Sprintf("%s, %d at a time%s", plural(p.tasks.outers*p.tasks.inners, "task"), p.tasks.workers, what)}
		loops := append([]loop{{p.tasks.steps, "programs of a task"}}, p.loopsOf(s.step, s.dots[0])...)
		for i, l := range loops {
			// A loop that runs once is shown only for what is said of it.
			if l.count > 1 || strings.Contains(l.what, ":") || i == len(loops)-1 {
				lines = append(lines, fmt.Sprintf("%s%d %s", strings.Repeat(" ", len(lines)), l.count, l.what))
			}
		}
		t.part("loops", lines...)
	}
}

// loopsOf lists the loops around the register tile of product d: those of compute and
// multiply and, in package gemm, of vectors, of tiles or of an unpacked b.
func (p *plan) loopsOf(s *step, d *dot) []loop {
	dst, c := &p.refs[s.dst], p.callOf(s, d)
	kept := func(o *operand, deep bool) string {
		if o.keep == keepPiece && o.deep == deep {
			return ": packs a piece of " + p.refs[o.ref].Name
		}
		return ""
	}
	packs := kept(c.a, false)
	if packs != "" && kept(c.b, false) != "" {
		packs = ": packs pieces of both"
	} else {
		packs += kept(c.b, false)
	}
	chunk := "one packed chunk"
	if c.b.keep == keepUnpacked {
		chunk += " of a"
	}
	outer := []loop{
		{ceil(dst.cols, c.cols), fmt.Sprintf("× %d columns of %s%s", c.cols, dst.Name, kept(c.b, true))},
		{ceil(dst.rows, c.rows), fmt.Sprintf("× %d rows of %s", c.rows, dst.Name)},
		{ceil(d.k1-d.k0, c.depth), fmt.Sprintf("× %d of k, %s%s", c.depth, chunk, packs)},
	}
	switch {
	case c.b.keep == keepUnpacked:
		return append(outer, c.direct()...)
	case c.b.packing.words > 1:
		return append(outer, c.tiles()...)
	}
	return append(outer, c.runs(), c.piece(), c.panels(), c.registers())
}

// A blocking is how package gemm divides one call of a product for the caches.
type blocking struct {
	*dot
	a, b              *operand
	rows, cols, depth int        // of the call
	read              gemm.ReadB // of a B that is not packed
	run               int        // elements of k that a tile stays in registers for
	mc                int        // rows of a that stay in L2 while panels of b pass; all where b is not packed
	nc                int        // columns of b whose sums with those stay in L2 from run to run
}

func (p *plan) callOf(s *step, d *dot) *blocking {
	dst, a, b := &p.refs[s.dst], p.operands[d.a], p.operands[d.b]
	c := &blocking{
		dot: d, a: a, b: b,
		rows: min(s.rows, dst.rows), cols: min(s.cols, dst.cols), depth: min(a.depth, d.k1-d.k0),
	}
	if b.keep != keepUnpacked {
		c.run, c.mc, c.nc = d.product.blocking(c.rows, c.cols, c.depth)
		c.run, c.mc, c.nc = min(c.run, c.depth), min(c.mc, c.rows), min(c.nc, c.cols)
		return c
	}
	cols := c.cols
	if b.widened() {
		cols = min(cols, b.piece)
	}
	c.read = d.product.readB(c.rows, p.strideOf(b))
	c.run, c.nc = d.product.blockingDirect(c.rows, cols, c.depth, p.strideOf(b))
	c.run, c.mc = min(c.run, c.depth), c.rows
	return c
}

// work is how much of call.work the product writes, in bytes: a packed piece of b, sums
// that are kept from run to run, or two tiles on their way to the output.
func (c *blocking) work() int {
	unpacked := c.b.keep == keepUnpacked
	switch {
	case unpacked && c.read == gemm.ReadPieces:
		return c.bytes(c.nc, c.b)
	case unpacked || c.b.packing.words == 1:
		return 0
	case c.run < c.depth:
		return c.sums()
	case c.write != gemm.WriteInPlace || c.narrow || c.scales != nil:
		return 2 * c.a.packing.lanes * c.b.packing.lanes * c.product.sum.Bits() / 8
	}
	return 0
}

// sums are the bytes of those that are kept from run to run.
func (c *blocking) sums() int {
	mr, nr := c.a.packing.lanes, c.b.packing.lanes
	return ceil(c.mc, mr) * mr * ceil(c.nc, nr) * nr * c.product.sum.Bits() / 8
}

// tiles are the loops around tiles of AMX.
func (c *blocking) tiles() []loop {
	list := []loop{c.piece()}
	if c.run < c.depth {
		list = append(list, loop{ceil(c.cols, c.nc), fmt.Sprintf("× %d columns of b: their sums, %s, are kept from run to run", c.nc, kib(int64(c.sums())))}, c.runs())
	}
	return append(list, c.panels(), c.registers())
}

// direct are those of multiply and MultiplyDirect, with a b that is not packed.
func (c *blocking) direct() []loop {
	var list []loop
	where, cols, mr := "where they lie", c.cols, c.a.packing.lanes
	if c.b.widened() {
		cols = min(cols, c.b.piece)
		list = append(list, loop{ceil(c.cols, cols), fmt.Sprintf("× %d columns of b: widens them", cols)})
		where = "as widened"
	}
	switch c.read {
	case gemm.ReadStreams:
		return append(list, c.runs(), loop{c.mc, fmt.Sprintf("× 1 row of a by %d columns of b, along its rows %s", c.nc, where)})
	case gemm.ReadAlong:
		nr := c.product.tileCols(min(c.mc, mr))
		return append(list, c.runs(), loop{ceil(c.mc, mr), fmt.Sprintf("× %d rows of a, one panel", mr)},
			loop{ceil(c.nc, nr), fmt.Sprintf("× %d columns of b, %s: %d×%d sums in registers over %d of k", nr, where, mr, nr, c.run)})
	case gemm.ReadPieces:
		return append(list, loop{ceil(cols, c.nc), fmt.Sprintf("× %d columns of b", c.nc)},
			loop{ceil(c.depth, c.run), fmt.Sprintf("× %d of k: packs a piece of b, %s", c.run, fits(c.bytes(c.nc, c.b)))},
			c.panels(), c.registers())
	}
	nr := c.b.packing.lanes
	return append(list, c.runs(), loop{ceil(c.nc, nr), fmt.Sprintf("× %d columns of b, %s", nr, where)}, c.registers())
}

func (c *blocking) runs() loop {
	return loop{ceil(c.depth, c.run), fmt.Sprintf("× %d of k", c.run)}
}

// piece is the loop over pieces of a that fit L2.
func (c *blocking) piece() loop {
	what := fmt.Sprintf("× %d rows of a, ", c.mc)
	if c.a.keep == keepUnpacked {
		what += "where they lie, "
	}
	return loop{ceil(c.rows, c.mc), what + fits(c.bytes(c.mc, c.a))}
}

// panels is the loop over panels of b.
func (c *blocking) panels() loop {
	nr := c.b.packing.lanes
	return loop{ceil(c.nc, nr), fmt.Sprintf("× %d columns of b, one panel, %s", nr, fits(c.bytes(nr, c.b)))}
}

// registers is the loop over panels of a.
func (c *blocking) registers() loop {
	mr, of := c.a.packing.lanes, "one panel"
	if c.a.keep == keepUnpacked {
		of = "where they lie"
	}
	return loop{ceil(c.mc, mr), fmt.Sprintf("× %d rows of a, %s: %d×%d sums in registers over %d of k", mr, of, mr, c.b.packing.lanes, c.run)}
}

// bytes are those of a run of lanes of an operand.
func (c *blocking) bytes(lanes int, o *operand) int {
	return ceil(lanes, o.packing.lanes) * o.packing.panel(c.run)
}

// fits says which cache some bytes fit.
func fits(bytes int) string {
	host := probe.Host()
	switch s := kib(int64(bytes)); {
	case bytes <= host.L1D:
		return s + ", fits L1"
	case bytes <= host.L2:
		return s + ", fits L2"
	default:
		return s
	}
}
