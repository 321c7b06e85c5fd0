package plan

import (
	"fmt"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/words"
	"matladder/tile"
)

// A Loop is one around the register tile of a step, for whole blocks.
type Loop struct {
	Count int
	what  string
}

// loops prints the loops around the register tile of each step with a product.
func (t *Text) loops(p *Plan) {
	for _, s := range p.shown() {
		if len(s.Dots) == 0 {
			continue
		}
		what := ""
		if s.times > 1 {
			what = fmt.Sprintf(", the first of %d products", s.times)
		}
		lines := []string{fmt.Sprintf("%s, %d at a time%s", words.Count(p.Tasks.Outers*p.Tasks.Inners, "task"), p.Tasks.Workers, what)}
		loops := append([]Loop{{p.Tasks.Steps, "programs of a task"}}, p.LoopsOf(s.Step, s.Dots[0])...)
		for i, l := range loops {
			// A loop that runs once is shown only for what is said of it.
			if l.Count > 1 || strings.Contains(l.what, ":") || i == len(loops)-1 {
				lines = append(lines, fmt.Sprintf("%s%d %s", strings.Repeat(" ", len(lines)), l.Count, l.what))
			}
		}
		t.Part("loops", lines...)
	}
}

// LoopsOf lists the loops around the register tile of product d: those of compute and
// multiply and, in package gemm, of vectors, of tiles or of an unpacked b.
func (p *Plan) LoopsOf(s *Step, d *Dot) []Loop {
	dst, c := &p.Refs[s.Dst], p.CallOf(s, d)
	kept := func(o *Operand, deep bool) string {
		if o.Keep == KeepPiece && o.Deep == deep {
			return ": packs a piece of " + p.Refs[o.Ref].Name
		}
		return ""
	}
	packs := kept(c.A, false)
	if packs != "" && kept(c.B, false) != "" {
		packs = ": packs pieces of both"
	} else {
		packs += kept(c.B, false)
	}
	chunk := "one packed chunk"
	if c.B.Keep == KeepUnpacked {
		chunk += " of a"
	}
	outer := []Loop{
		{tile.Ceil(dst.Cols, c.Cols), fmt.Sprintf("× %d columns of %s%s", c.Cols, dst.Name, kept(c.B, true))},
		{tile.Ceil(dst.Rows, c.Rows), fmt.Sprintf("× %d rows of %s", c.Rows, dst.Name)},
		{tile.Ceil(d.K1-d.K0, c.Depth), fmt.Sprintf("× %d of k, %s%s", c.Depth, chunk, packs)},
	}
	switch {
	case c.B.Keep == KeepUnpacked:
		return append(outer, c.direct()...)
	case c.B.Packing.Words > 1:
		return append(outer, c.tiles()...)
	}
	return append(outer, c.runs(), c.piece(), c.panels(), c.registers(c.A.Packing.Lanes, c.B.Packing.Lanes))
}

// A Blocking is how package gemm divides one call of a product for the caches.
type Blocking struct {
	*Dot
	A, B              *Operand
	Rows, Cols, Depth int        // of the call
	Read              gemm.ReadB // of a B that is not packed
	Run               int        // elements of k that a tile stays in registers for
	MC                int        // rows of a that stay in L2 while panels of b pass; all where b is not packed
	NC                int        // columns of b whose sums with those stay in L2 from run to run
	tile              [2]int     // rows and columns of a register tile that reads a b that is not packed
	machine           *Machine
}

// CallOf says how the calls of a product are divided.
func (p *Plan) CallOf(s *Step, d *Dot) *Blocking {
	dst, a, b := &p.Refs[s.Dst], p.Operands[d.A], p.Operands[d.B]
	c := &Blocking{
		Dot: d, A: a, B: b, machine: &p.Machine,
		Rows: min(s.Rows, dst.Rows), Cols: min(s.Cols, dst.Cols), Depth: min(a.Depth, d.K1-d.K0),
	}
	if b.Keep != KeepUnpacked {
		c.Run, c.MC, c.NC = d.Product.Blocking(c.Rows, c.Cols, c.Depth)
		c.Run, c.MC, c.NC = min(c.Run, c.Depth), min(c.MC, c.Rows), min(c.NC, c.Cols)
		return c
	}
	cols := c.Cols
	if b.Widened() {
		cols = min(cols, b.Piece)
	}
	c.Read = d.Product.Unpacked.Read(c.Rows, p.StrideOf(b))
	c.Run, c.NC, c.tile = d.Product.Unpacked.Blocking(c.Rows, cols, c.Depth, p.StrideOf(b), b.Far)
	c.Run, c.MC = min(c.Run, c.Depth), c.Rows
	return c
}

// Work is how much of Call.Work the product writes, in bytes: a packed piece of b, sums
// that are kept from run to run, or two tiles on their way to the output.
func (c *Blocking) Work() int {
	unpacked := c.B.Keep == KeepUnpacked
	switch {
	case unpacked && c.Read == gemm.ReadPieces:
		return c.bytes(c.NC, c.B)
	case unpacked || c.B.Packing.Words == 1:
		return 0
	case c.Run < c.Depth:
		return c.sums()
	case c.Write != gemm.WriteInPlace || c.Scales != nil:
		return 2 * c.A.Packing.Lanes * c.B.Packing.Lanes * c.Product.Sum.Bits() / 8
	}
	return 0
}

// sums are the bytes of those that are kept from run to run.
func (c *Blocking) sums() int {
	mr, nr := c.A.Packing.Lanes, c.B.Packing.Lanes
	return tile.Ceil(c.MC, mr) * mr * tile.Ceil(c.NC, nr) * nr * c.Product.Sum.Bits() / 8
}

// tiles are the loops around tiles of AMX.
func (c *Blocking) tiles() []Loop {
	list := []Loop{c.piece()}
	if c.Run < c.Depth {
		list = append(list, Loop{tile.Ceil(c.Cols, c.NC), fmt.Sprintf("× %d columns of b: their sums, %s, are kept from run to run", c.NC, KiB(int64(c.sums())))}, c.runs())
	}
	return append(list, c.panels(), c.registers(c.A.Packing.Lanes, c.B.Packing.Lanes))
}

// direct are those of multiply and MultiplyDirect, with a b that is not packed.
func (c *Blocking) direct() []Loop {
	var list []Loop
	where, cols, mr := "where they lie", c.Cols, c.tile[0]
	if c.B.Widened() {
		cols = min(cols, c.B.Piece)
		list = append(list, Loop{tile.Ceil(c.Cols, cols), fmt.Sprintf("× %d columns of b: widens them", cols)})
		where = "as widened"
	}
	switch c.Read {
	case gemm.ReadStreams:
		return append(list, c.runs(), Loop{c.MC, fmt.Sprintf("× 1 row of a by %d columns of b, along its rows %s", c.NC, where)})
	case gemm.ReadDots:
		return append(list, Loop{tile.Ceil(c.MC, mr), fmt.Sprintf("× %d rows of a by %d columns of b, along these %s", min(c.MC, mr), c.NC, where)})
	case gemm.ReadColumns:
		return append(list, Loop{c.MC, fmt.Sprintf("× 1 row of a where it lies by %d columns of b", c.NC)})
	case gemm.ReadAlong:
		return append(list, c.runs(), Loop{tile.Ceil(c.MC, mr), fmt.Sprintf("× %d rows of a, one panel", mr)},
			c.widths(where, mr))
	case gemm.ReadLoops:
		return append(list, Loop{c.MC, "× 1 row of a"}, Loop{c.NC, fmt.Sprintf("× 1 column of b, down it: a sum over %d of k", c.Run)})
	case gemm.ReadRows:
		return append(list, Loop{c.MC, "× 1 row of a"}, Loop{c.Run, fmt.Sprintf("of k × 1 row of b, along it: %d sums in memory", c.NC)})
	case gemm.ReadVectors, gemm.ReadRegisters:
		return append(list, Loop{tile.Ceil(c.MC, mr), "× " + words.Count(mr, "row") + " of a, " + where}, c.widths(where, mr))
	case gemm.ReadPieces:
		return append(list, Loop{tile.Ceil(cols, c.NC), fmt.Sprintf("× %d columns of b", c.NC)},
			Loop{tile.Ceil(c.Depth, c.Run), fmt.Sprintf("× %d of k: packs a piece of b, %s", c.Run, c.machine.fits(c.bytes(c.NC, c.B)))},
			c.panels(), c.registers(mr, c.B.Packing.Lanes))
	}
	return append(list, c.runs(), Loop{tile.Ceil(c.NC, c.tile[1]), fmt.Sprintf("× %d columns of b, %s", c.tile[1], where)}, c.registers(mr, c.tile[1]))
}

// widths is the loop over tiles along rows of b, which lie somewhere.
func (c *Blocking) widths(where string, mr int) Loop {
	return Loop{tile.Ceil(c.NC, c.tile[1]), fmt.Sprintf("× %d columns of b, %s: %d×%d sums in registers over %d of k", c.tile[1], where, mr, c.tile[1], c.Run)}
}

func (c *Blocking) runs() Loop {
	return Loop{tile.Ceil(c.Depth, c.Run), fmt.Sprintf("× %d of k", c.Run)}
}

// piece is the loop over pieces of a that fit L2.
func (c *Blocking) piece() Loop {
	what := fmt.Sprintf("× %d rows of a, ", c.MC)
	if c.A.Keep == KeepUnpacked {
		what += "where they lie, "
	}
	return Loop{tile.Ceil(c.Rows, c.MC), what + c.machine.fits(c.bytes(c.MC, c.A))}
}

// panels is the loop over panels of b.
func (c *Blocking) panels() Loop {
	nr := c.B.Packing.Lanes
	return Loop{tile.Ceil(c.NC, nr), fmt.Sprintf("× %d columns of b, one panel, %s", nr, c.machine.fits(c.bytes(nr, c.B)))}
}

// registers is the loop over rows of a, those of a register tile of some rows and columns.
func (c *Blocking) registers(mr, nr int) Loop {
	of := "one panel"
	if c.A.Keep == KeepUnpacked {
		of = "where they lie"
	}
	return Loop{tile.Ceil(c.MC, mr), fmt.Sprintf("× %d rows of a, %s: %d×%d sums in registers over %d of k", mr, of, mr, nr, c.Run)}
}

// bytes are those of a run of lanes of an operand.
func (c *Blocking) bytes(lanes int, o *Operand) int {
	return tile.Ceil(lanes, o.Packing.Lanes) * o.Packing.Panel(c.Run)
}

// fits says which cache some bytes fit.
func (m *Machine) fits(bytes int) string {
	switch s := KiB(int64(bytes)); {
	case int64(bytes) <= m.L1:
		return s + ", fits L1"
	case int64(bytes) <= m.L2:
		return s + ", fits L2"
	default:
		return s
	}
}
