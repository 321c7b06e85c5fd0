package cpu

import (
	"fmt"
	"slices"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

func (p *plan) explainOperand(o *operand) PlanOperand {
	r := &p.refs[o.ref]
	x := PlanOperand{
		Ref: r.Name, Side: "a", Transposed: o.columns, Dtype: r.Dtype,
		Format: formatOf(o.packing), Lanes: o.packing.lanes, Unit: o.packing.unit, Words: o.packing.words,
		Depth: o.depth, Block: o.block, Meets: ceil(o.meets, o.k), Pays: o.pays,
		Keep: keepNames[o.keep], Why: o.why, Room: o.room, Kept: o.slots, Bytes: o.mem.size, Copies: p.tasks.workers,
		Deep: o.deep, Piece: o.piece,
	}
	if o.isB {
		x.Side, x.Transposed = "b", !o.columns
	}
	switch o.keep {
	case keepAll, keepGroup:
		x.Copies = 1
	case keepUnpacked:
		if x.Block = 0; o.packing.widening == nil {
			x.Copies = 0
		}
	}
	return x
}

// formatOf is the path's format: that of a packing has the side behind it, and
// what the operand was before it was widened.
func formatOf(p packing) string {
	for i, c := range p.format {
		if c == '/' {
			return p.format[:i]
		}
	}
	return p.format
}

// explainSteps adds steps and their products to x; when is what they are inside.
func (p *plan) explainSteps(x *PlanProgram, steps []*step, when tile.Cond) {
	var last *step
	for _, s := range steps {
		if s.kind == stepWhen {
			inside := s.cond
			if when != nil {
				inside = tile.All(when, s.cond)
			}
			p.explainSteps(x, s.body, inside)
			last = nil
			continue
		}
		// Copies of one statement in a loop keep its place.
		if n := len(x.Steps); last != nil && alike(last, s) {
			x.Steps[n-1].Times++
			continue
		}
		last = s
		st := PlanStep{
			Statement: s.stmt.String(), Dst: s.stmt.Ref.Name, Adds: s.stmt.Kind == tile.Accumulate, When: when, Times: 1, Zeroed: s.zeroed,
			Rows: min(s.rows, p.refs[s.dst].rows), Cols: min(s.cols, p.refs[s.dst].cols),
		}
		if st.Adds && s.stmt.Value.Dtype != s.stmt.Ref.Dtype {
			st.Rounds = s.stmt.Ref.Dtype
		}
		switch {
		case s.kind == stepFill:
			st.Way = WayFill
		case s.direct:
			st.Way = WayDirect
		case len(s.dots) > 0:
			st.Way = WayPieces
		default:
			st.Way = WayVectors
		}
		outside(s.stmt.Value, func(e *tile.Expr) {
			switch e.Op {
			case tile.OpDot, tile.OpLoad, tile.OpConst, tile.OpBroadcast, tile.OpIndex, tile.OpSlice, tile.OpIota, tile.OpInBounds:
			default:
				if !slices.Contains(st.Ops, e.Op) {
					st.Ops = append(st.Ops, e.Op)
				}
			}
		})
		for _, d := range s.dots {
			st.Products = append(st.Products, len(x.Products))
			x.Products = append(x.Products, p.explainProduct(s, d))
			if st.Loops == nil {
				st.Loops = p.explainLoops(s, d)
			}
		}
		x.Steps = append(x.Steps, st)
	}
}

// alike reports whether two steps are of one statement.
func alike(s, t *step) bool {
	return s.stmt.Kind == t.stmt.Kind && s.stmt.Ref == t.stmt.Ref && s.stmt.Pos == t.stmt.Pos &&
		s.direct == t.direct && len(s.dots) == len(t.dots) && s.rows == t.rows && s.cols == t.cols
}

// outside calls f on the parts of a value that are not operands of products:
// with those packing does what is to be done.
func outside(e *tile.Expr, f func(*tile.Expr)) {
	seen := map[*tile.Expr]bool{}
	var walk func(*tile.Expr)
	walk = func(e *tile.Expr) {
		if seen[e] {
			return
		}
		if seen[e] = true; e.Op != tile.OpDot {
			for _, arg := range e.Args {
				walk(arg)
			}
		}
		f(e)
	}
	walk(e)
}

func (p *plan) explainProduct(s *step, d *dot) PlanProduct {
	a, b := p.operands[d.a], p.operands[d.b]
	x := PlanProduct{
		A: d.a, B: d.b, Path: d.product.name, MR: a.packing.lanes, NR: b.packing.lanes, Sum: d.product.sum,
		K0: d.k0, K1: d.k1, Unpacked: b.keep == keepUnpacked, Depth: a.depth, Streams: d.stream,
	}
	if da, db := multiplied(d.expr.Args[0].Dtype), multiplied(d.expr.Args[1].Dtype); da == db {
		for _, name := range paths(p.machine.kernels, da) {
			if name != x.Path {
				x.Others = append(x.Others, name)
			}
		}
	}
	rows, cols, depth := min(s.rows, p.refs[s.dst].rows), min(s.cols, p.refs[s.dst].cols), min(x.Depth, x.K1-x.K0)
	if x.Unpacked {
		if b.packing.widening != nil {
			cols = min(cols, b.piece)
		}
		x.Run, x.Rows = min(d.product.cutDirect(rows, cols, depth), depth), rows
	} else {
		x.Run, x.Rows = d.product.cut(rows, depth)
		x.Run, x.Rows = min(x.Run, depth), min(x.Rows, rows)
	}
	return x
}

// paths names the micro-kernels for a pair of one dtype.
func paths(k *gemm.Kernels, d tile.Dtype) []string {
	var names []string
	switch d {
	case tile.BFloat16:
		names = append(named(k.WideBFloat16), named(k.PairsBFloat16)...)
		names = append(names, named(k.TilesBFloat16)...)
	case tile.Int8:
		names = append(named(k.WideInt8), named(k.ThinInt8)...)
		names = append(append(names, named(k.Int8)...), named(k.TilesInt8)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func named[S gemm.Source, C gemm.Sum](p *gemm.Path[S, C]) []string {
	if p == nil {
		return nil
	}
	return []string{p.Name}
}

// explainLoops lists the loops around the register tile of product d: those of
// compute, multiply and, in package gemm, Block or BlockDirect.
func (p *plan) explainLoops(s *step, d *dot) []PlanLoop {
	dst, x := &p.refs[s.dst], p.explainProduct(s, d)
	a, b := p.operands[d.a], p.operands[d.b]
	k := x.K1 - x.K0
	rows, cols, depth := min(s.rows, dst.rows), min(s.cols, dst.cols), min(x.Depth, k)
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
	loops := []PlanLoop{
		{ceil(dst.cols, cols), fmt.Sprintf("× %d columns of %s%s", cols, dst.Name, kept(b, true))},
		{ceil(dst.rows, rows), fmt.Sprintf("× %d rows of %s", rows, dst.Name)},
		{ceil(k, depth), fmt.Sprintf("× %d of k, one packed chunk%s", depth, packs)},
		{ceil(depth, x.Run), fmt.Sprintf("× %d of k", x.Run)},
	}
	tile := fmt.Sprintf("× %d rows of a, one panel: %d×%d sums in registers over %d of k", x.MR, x.MR, x.NR, x.Run)
	if x.Unpacked {
		where := "where they lie"
		if b.packing.widening != nil {
			part := min(cols, b.piece)
			loops = slices.Insert(loops, 3, PlanLoop{ceil(cols, part), fmt.Sprintf("× %d columns of b: widens them", part)})
			cols, where = part, "as widened"
		}
		return append(loops, PlanLoop{ceil(cols, x.NR), fmt.Sprintf("× %d columns of b, %s", x.NR, where)},
			PlanLoop{ceil(rows, x.MR), tile})
	}
	host := probe.Host()
	bytes := func(lanes int, o *operand) string {
		n := ceil(lanes, o.packing.lanes) * o.packing.panel(x.Run)
		switch s := backend.FormatBytes(int64(n)); {
		case n <= host.L1D:
			return s + ", fits L1"
		case n <= host.L2:
			return s + ", fits L2"
		default:
			return s
		}
	}
	return append(loops,
		PlanLoop{ceil(rows, x.Rows), fmt.Sprintf("× %d rows of a, %s", x.Rows, bytes(x.Rows, a))},
		PlanLoop{ceil(cols, x.NR), fmt.Sprintf("× %d columns of b, one panel, %s", x.NR, bytes(x.NR, b))},
		PlanLoop{ceil(x.Rows, x.MR), tile})
}

func (p *plan) explainRef(i int) PlanRef {
	r := &p.refs[i]
	x := PlanRef{Ref: r.Ref, Stride: r.Dtype.Bytes(int64(r.ld))}
	if r.blocks != nil {
		x.Blocks = r.blockCount()
	}
	use := func(u PlanUse) {
		if !slices.Contains(x.Uses, u) {
			x.Uses = append(x.Uses, u)
		}
	}
	if r.Kind == tile.Table {
		use(UseIndexMap)
	}
	for _, o := range p.operands {
		switch {
		case o.ref != i:
		case o.keep == keepUnpacked && o.packing.widening != nil:
			use(UseWidened)
		case o.keep == keepUnpacked && !o.isB:
			use(UseTiles)
		case o.keep == keepUnpacked:
			use(UseInPlace)
		default:
			use(UsePacked)
		}
	}
	allSteps(p.steps, func(s *step) {
		if s.kind == stepWhen {
			return
		}
		outside(s.stmt.Value, func(e *tile.Expr) {
			switch {
			case e.Ref != r.Ref:
			case e.Op == tile.OpLoad:
				use(UseRows)
			case e.Op == tile.OpInBounds:
				use(UseExtent)
			}
		})
		switch {
		case s.dst != i:
		case s.kind == stepFill:
			use(UseFill)
		case s.direct:
			use(UseProduct)
		default:
			use(UseVectors)
		}
	})
	return x
}
