package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/machine"
	"matladder/tile"
)

// grouped sees a loop that adds up the scaled products of groups along k,
//
//	for g in range(n):
//	  s[...] = row_sum(select(iota == index(k*n + g), sa[...], 0))
//	  acc[...] += dot(a[:, g*size:], b[g*size:, :]) * sb[g] * s[...]
//
// as one product of a and b, whose numbers are those in memory by the scales of their groups; there
// may be no s. It returns nil for another loop, and for scales that no packing can take in.
func grouped(p *plan.Plan, loop *tile.Stmt) *plan.Step {
	last := loop.Body[len(loop.Body)-1]
	if last.Kind != tile.Accumulate || last.Ref.Dtype != tile.Float32 || last.Value.Dtype != tile.Float32 || len(loop.Body) > 2 {
		return nil
	}
	x := groupLoop{Plan: p, axis: loop.Axis}
	product := last.Value
	for product.Op == tile.OpMul {
		y, by := product.Args[0], product.Args[1]
		if !slices.ContainsFunc(loop.Body[:len(loop.Body)-1], func(s *tile.Stmt) bool { return x.ofA(s, by) }) && !x.ofB(by) {
			return nil
		}
		product = y
	}
	e := uncast(product)
	if e.Op != tile.OpDot || e.TransA || e.TransB || x.sb == nil || (x.sa != nil) != (len(loop.Body) > 1) {
		return nil
	}
	c := *e
	c.Dtype, c.Args = tile.Float32, slices.Clone(e.Args)
	for i := range c.Args {
		if c.Args[i] = x.whole(e.Args[i], 1-i); c.Args[i] == nil {
			return nil
		}
	}
	d := &plan.Dot{Expr: &c, Groups: x.scales(uncast(c.Args[0]).Ref, uncast(c.Args[1]).Ref)}
	stmt := *last
	stmt.Value = &c
	s := &plan.Step{Matched: plan.Matched{Stmt: &stmt, Kind: plan.StepCompute, Dst: p.Number(stmt.Ref), Dots: []*plan.Dot{d}}}
	if d.Groups == nil || !scalesFit(p, s, d) {
		return nil
	}
	if x.column != nil {
		p.Refs[p.Number(x.column)].Merged = true
	}
	return s
}

// A groupLoop is what a loop over groups was found to multiply by.
type groupLoop struct {
	*plan.Plan
	axis   *tile.Axis
	size   int            // elements of a group
	sa, sb *tile.Ref      // the scales
	column *tile.Ref      // where those of a are put
	at     tile.IndexExpr // column of sa
}

// ofA sees e as the scales of a, which s has put in a column.
func (x *groupLoop) ofA(s *tile.Stmt, e *tile.Expr) bool {
	e = unrepeated(e)
	if e.Op != tile.OpLoad || s.Kind != tile.Store || s.IsPart() || e.Ref != s.Ref || s.Ref.Kind != tile.Scratch || x.sa != nil || x.readElsewhere(s.Ref) {
		return false
	}
	sum := s.Value
	if sum.Op != tile.OpReduceSum || sum.Dim != 1 || sum.Args[0].Op != tile.OpSelect {
		return false
	}
	is, from, zero := sum.Args[0].Args[0], uncast(sum.Args[0].Args[1]), unrepeated(sum.Args[0].Args[2])
	if is.Op != tile.OpCompare || is.Cmp != tile.EQ || is.Args[0].Op != tile.OpIota || is.Args[0].Dim != 1 || from.Op != tile.OpLoad || zero.Op != tile.OpConst || zero.Value != 0 {
		return false
	}
	index := unrepeated(is.Args[1])
	x.sa, x.column, x.at = from.Ref, s.Ref, index.Index
	return index.Op == tile.OpIndex
}

// readElsewhere reports whether more than this loop reads r.
func (x *groupLoop) readElsewhere(r *tile.Ref) bool {
	reads := 0
	tile.RewriteBody(x.Program.Body, func(e, _ *tile.Expr) *tile.Expr {
		if e.Op == tile.OpLoad && e.Ref == r {
			reads++
		}
		return e
	})
	return reads > 1
}

// ofB sees e as the scales of b: row g of a block, or zero for groups past the end.
func (x *groupLoop) ofB(e *tile.Expr) bool {
	e = unrepeated(e)
	row := func(e *tile.Expr, op tile.Op) bool {
		return e.Op == tile.OpSlice && e.Dim == 0 && e.Index == tile.IndexExpr(x.axis) && e.Shape[0] == 1 && e.Args[0].Op == op
	}
	if e.Op == tile.OpSelect {
		inside := unrepeated(e.Args[0])
		if !row(inside, tile.OpInBounds) {
			return false
		}
		if e = uncast(e.Args[1]); row(e, tile.OpLoad) && (inside.Args[0].Ref != e.Args[0].Ref || inside.Args[0].Dim != 0) {
			return false
		}
	}
	if e = uncast(e); !row(e, tile.OpLoad) || x.sb != nil {
		return false
	}
	x.sb = e.Args[0].Ref
	return true
}

// whole is the block of which operand e of a product is the part of a group, along dim.
func (x *groupLoop) whole(e *tile.Expr, dim int) *tile.Expr {
	part := uncast(e)
	if part.Op != tile.OpSlice || part.Dim != dim || part.Args[0].Op != tile.OpLoad {
		return nil
	}
	all, size := part.Args[0], part.Shape[dim]
	if part.Index != tile.Times(x.axis, size) || all.Shape[dim] != size*x.axis.Size || x.size > 0 && x.size != size {
		return nil
	}
	if x.size = size; part == e {
		return all
	}
	c := *e
	c.Args, c.Shape = []*tile.Expr{all}, all.Shape
	return &c
}

// scales are those of the blocks of a and b, if each block always meets the same ones.
func (x *groupLoop) scales(a, b *tile.Ref) *plan.Groups {
	g := &plan.Groups{Size: x.size, B: plan.GroupScales{Ref: x.Number(x.sb), At: tile.Const(0)}}
	sb := &x.Refs[g.B.Ref]
	if !follows(x.sb, b) || sb.Rows != x.axis.Size || sb.Cols != b.Shape()[1] || indexOf(x.sb, 0) != indexOf(b, 0) || indexOf(x.sb, 1) != indexOf(b, 1) {
		return nil
	}
	if x.sa == nil {
		return g
	}
	g.A = plan.GroupScales{Ref: x.Number(x.sa), At: tile.Substitute(x.at, func(axis *tile.Axis) tile.IndexExpr {
		if axis == x.axis {
			return tile.Const(0)
		}
		return axis
	}, nil)}
	if !follows(x.sa, a) || x.sa.Array[x.sa.ArrayDim(1)] != x.sa.Shape()[1] || indexOf(x.sa, 0) != indexOf(a, 0) ||
		x.sa.Shape()[0] != a.Shape()[0] || x.at != tile.Plus(tile.Times(indexOf(a, 1), x.axis.Size), x.axis) {
		return nil
	}
	return g
}

// indexOf is which block of r a program sees along a dimension of its shape.
func indexOf(r *tile.Ref, dim int) tile.IndexExpr { return r.Index[r.ArrayDim(dim)] }

// follows reports whether s, scales, and r are inputs, of rank 2 as they are seen, and the block of
// s is always the same one beside a block of r.
func follows(s, r *tile.Ref) bool {
	for _, x := range []*tile.Ref{s, r} {
		if x.Kind != tile.In || x.Main || x.Overlap() || len(x.Shape()) != 2 || !tile.TableFree(x.Index...) {
			return false
		}
	}
	for _, x := range s.Index {
		if _, is := x.(tile.Const); !is && !slices.Contains(r.Index, x) {
			return false
		}
	}
	return true
}

// uncast is e, or what it casts.
func uncast(e *tile.Expr) *tile.Expr {
	if e.Op == tile.OpCast {
		return e.Args[0]
	}
	return e
}

// unrepeated is e, or what it repeats.
func unrepeated(e *tile.Expr) *tile.Expr {
	if e.Op == tile.OpBroadcast {
		return e.Args[0]
	}
	return e
}

// significant is how many bits the magnitudes of a dtype's numbers have, beside a power of two.
var significant = map[tile.Dtype]int{tile.Float8E8M0FNU: 0, tile.Float4E2M1FN: 2, tile.Int4: 3, tile.Int8: 7, tile.Float8E4M3FN: 4, tile.Float8E5M2: 3, tile.BFloat16: 8, tile.Float32: 24}

const (
	// fewGroupRows is up to how many rows of a groups are better off one by one, each with its part of b
	// in place, but for what reads that by groups.
	fewGroupRows = 1
	// inPlaceGroupRows is up to how many rows that beats packing b for integers, which multiply faster.
	inPlaceGroupRows = 24
)

// scalesFit reports whether a micro-kernel multiplies by the scales of product d of step s, or numbers by
// theirs can be what is multiplied: exactly, or rounded to float32.
func scalesFit(p *plan.Plan, s *plan.Step, d *plan.Dot) bool {
	a, errA := sideOf(p, d.Expr, 0, d.Expr.Args[0])
	b, errB := sideOf(p, d.Expr, 1, d.Expr.Args[1])
	if errA != nil || errB != nil || slices.Contains(p.Machine.Layout.Packed, b.Name) {
		return false
	}
	fits := func(x side, by plan.GroupScales) bool {
		to := machine.Multiplied(x.factor)
		return by.At == nil || x.Dtype != to && (to == tile.Float32 || to == tile.BFloat16 && significant[x.Dtype]+significant[p.Refs[by.Ref].Dtype] <= significant[to])
	}
	rows := rowsMet(p, s, a.Matrix, b.Matrix, true)
	integers := groupsOf(p.Machine.Kernels, a.factor, b.factor, a.Dtype, b.Dtype, d.Groups.Size) != nil
	d.Groups.InPlace = fits(a, d.Groups.A) && (!integers || rows <= inPlaceGroupRows) && inPlace(p.Machine.Kernels, a, b, rows, true) != nil
	if rows <= fewGroupRows && !d.Groups.InPlace {
		return false
	}
	return integers || d.Groups.InPlace || fits(a, d.Groups.A) && fits(b, d.Groups.B)
}
