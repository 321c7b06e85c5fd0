package cpu

import (
	"slices"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

func (p *plan) explainOperand(o *operand) PlanOperand {
	r := &p.refs[o.ref]
	x := PlanOperand{
		Ref: r.Name, Side: "a", Transposed: o.columns, Dtype: r.Dtype,
		Format: formatOf(o.packing), Lanes: o.packing.lanes, Unit: o.packing.unit, Words: o.packing.words,
		Depth: o.depth, Block: o.block, Meets: ceil(o.meets, o.k), Pays: o.pays,
		Keep: keepNames[o.keep], Why: o.why, Room: o.room, Kept: o.slots, Bytes: o.mem.size, Copies: p.tasks.workers,
		Deep: o.deep, Piece: o.piece, Packed: o.packed, InPlace: o.keep == keepUnpacked && o.packing.inPlace,
	}
	if o.isB {
		x.Side, x.Transposed = "b", !o.columns
		packed := p.machine.choices.B == gemm.ReadPacked
		x.Asked = packed && o.keep != keepUnpacked && o.columns || o.keep == keepUnpacked && o.pays >= gemm.AllRows
	}
	switch o.keep {
	case keepAll, keepGroup:
		x.Copies = 1
	case keepUnpacked:
		if x.Block = 0; !o.widened() {
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
		if s.kind == stepAbreast {
			first := len(x.Steps)
			p.explainSteps(x, s.body, when)
			for i := range x.Steps[first+1:] {
				x.Steps[first+1+i].Beside = x.Steps[first].Dst
			}
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
		if s.through != nil {
			st.Through = s.through.Name
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
		K0: d.k0, K1: d.k1, ReadsA: a.keep == keepUnpacked, ReadsB: b.keep == keepUnpacked, Streams: d.write == gemm.WritePast, Copies: d.write == gemm.WriteCopied, Asked: p.machine.choices.writeC != writeByRule, Narrows: d.narrow, Scales: d.scales != nil, Depth: a.depth,
	}
	if da, db := multiplied(d.expr.Args[0].Dtype), multiplied(d.expr.Args[1].Dtype); da == db {
		for _, name := range paths(p.machine.kernels, da) {
			if name != x.Path {
				x.Others = append(x.Others, name)
			}
		}
	}
	rows, cols, depth := min(s.rows, p.refs[s.dst].rows), min(s.cols, p.refs[s.dst].cols), min(x.Depth, x.K1-x.K0)
	if x.ReadsB {
		if b.widened() {
			cols = min(cols, b.piece)
		}
		x.Way = map[gemm.DirectWay]ReadWay{
			gemm.DirectTiles: ReadTiles, gemm.DirectStreams: ReadStreams, gemm.DirectPieces: ReadPieces, gemm.DirectAlong: ReadAlong,
		}[d.product.directWay(rows, p.strideOf(b))]
		x.Run, x.Cols = d.product.cutDirect(rows, cols, depth, p.strideOf(b))
		x.Run, x.Rows = min(x.Run, depth), rows
		return x
	}
	x.Run, x.Rows, x.Cols = d.product.cut(rows, cols, depth)
	x.Run, x.Rows, x.Cols = min(x.Run, depth), min(x.Rows, rows), min(x.Cols, cols)
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

func (p *plan) explainRef(i int, operands []PlanOperand) PlanRef {
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
	if r.merged {
		use(UseMerged)
	}
	for at, o := range p.operands {
		switch {
		case o.ref != i:
		case o.keep == keepUnpacked && o.widened():
			use(UseWidened)
		case o.keep == keepUnpacked && !o.isB:
			use(UseTiles)
		case o.keep == keepUnpacked:
			for _, way := range operands[at].Ways {
				use(PlanUse(way))
			}
		default:
			use(UsePacked)
		}
	}
	allSteps(p.steps, func(s *step) {
		if s.kind == stepWhen || s.kind == stepAbreast {
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
