// Package groups sees a loop over groups along k, whose products are scaled and added up, as one
// product of whole blocks.
package groups

import (
	"slices"

	"matladder/tile"
)

// Product is what such a loop adds to an accumulator: the product of blocks of a and b, whose
// numbers are those in memory by the scales of their groups.
type Product struct {
	Stmt   *tile.Stmt // acc += dot(a, b), in float32
	Size   int        // elements of a group
	A, B   Scales
	Column *tile.Ref // scratch in which the loop alone put scales of a; nil without
}

// Scales are those of the block of an operand: row by row of a, or below each other for columns
// of b, the first group's at column or row At of the block of Ref. There are none where Ref is nil.
type Scales struct {
	Ref *tile.Ref
	At  tile.IndexExpr
}

// Dot is the product of whole blocks.
func (p *Product) Dot() *tile.Expr { return p.Stmt.Value }

// Find sees a loop of a program,
//
//	for g in range(n):
//	  s[...] = row_sum(select(iota == index(k*n + g), sa[...], 0))
//	  acc[...] += dot(a[:, g*size:], b[g*size:, :]) * sb[g] * s[...]
//
// as a Product; there may be no s. It returns nil for another loop.
func Find(p *tile.Program, loop *tile.Stmt) *Product {
	last := loop.Body[len(loop.Body)-1]
	if last.Kind != tile.Accumulate || last.Ref.Dtype != tile.Float32 || last.Value.Dtype != tile.Float32 || len(loop.Body) > 2 {
		return nil
	}
	x := finder{program: p, axis: loop.Axis}
	product := last.Value
	for product.Op == tile.OpMul {
		y, by := product.Args[0], product.Args[1]
		if !slices.ContainsFunc(loop.Body[:len(loop.Body)-1], func(s *tile.Stmt) bool { return x.ofA(s, by) }) && !x.ofB(by) {
			return nil
		}
		product = y
	}
	e := Uncast(product)
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
	stmt := *last
	stmt.Value = &c
	found := &Product{Stmt: &stmt, Size: x.size, Column: x.column}
	if !x.scales(Uncast(c.Args[0]).Ref, Uncast(c.Args[1]).Ref, found) {
		return nil
	}
	return found
}

// A finder is what a loop was found to multiply by.
type finder struct {
	program *tile.Program
	axis    *tile.Axis
	size    int            // elements of a group
	sa, sb  *tile.Ref      // the scales
	column  *tile.Ref      // where those of a are put
	at      tile.IndexExpr // column of sa
}

// ofA sees e as the scales of a, which s has put in a column.
func (x *finder) ofA(s *tile.Stmt, e *tile.Expr) bool {
	e = unrepeated(e)
	if e.Op != tile.OpLoad || s.Kind != tile.Store || s.IsPart() || e.Ref != s.Ref || s.Ref.Kind != tile.Scratch || x.sa != nil || x.readElsewhere(s.Ref) {
		return false
	}
	sum := s.Value
	if sum.Op != tile.OpReduceSum || sum.Dim != 1 || sum.Args[0].Op != tile.OpSelect {
		return false
	}
	is, from, zero := sum.Args[0].Args[0], Uncast(sum.Args[0].Args[1]), unrepeated(sum.Args[0].Args[2])
	if is.Op != tile.OpCompare || is.Cmp != tile.EQ || is.Args[0].Op != tile.OpIota || is.Args[0].Dim != 1 || from.Op != tile.OpLoad || zero.Op != tile.OpConst || zero.Value != 0 {
		return false
	}
	index := unrepeated(is.Args[1])
	x.sa, x.column, x.at = from.Ref, s.Ref, index.Index
	return index.Op == tile.OpIndex
}

// readElsewhere reports whether more than this loop reads r.
func (x *finder) readElsewhere(r *tile.Ref) bool {
	reads := 0
	x.program.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpLoad && e.Ref == r {
			reads++
		}
	})
	return reads > 1
}

// ofB sees e as the scales of b: row g of a block, or zero for groups past the end.
func (x *finder) ofB(e *tile.Expr) bool {
	e = unrepeated(e)
	row := func(e *tile.Expr, op tile.Op) bool {
		return e.Op == tile.OpSlice && e.Dim == 0 && e.Index == tile.IndexExpr(x.axis) && e.Shape[0] == 1 && e.Args[0].Op == op
	}
	if e.Op == tile.OpSelect {
		inside := unrepeated(e.Args[0])
		if !row(inside, tile.OpInBounds) {
			return false
		}
		if e = Uncast(e.Args[1]); row(e, tile.OpLoad) && (inside.Args[0].Ref != e.Args[0].Ref || inside.Args[0].Dim != 0) {
			return false
		}
	}
	if e = Uncast(e); !row(e, tile.OpLoad) || x.sb != nil {
		return false
	}
	x.sb = e.Args[0].Ref
	return true
}

// whole is the block of which operand e of a product is the part of a group, along dim.
func (x *finder) whole(e *tile.Expr, dim int) *tile.Expr {
	part := Uncast(e)
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

// scales puts those of the blocks of a and b into found, if each block always meets the same ones.
func (x *finder) scales(a, b *tile.Ref, found *Product) bool {
	found.B = Scales{x.sb, tile.Const(0)}
	if !follows(x.sb, b) || x.sb.Shape()[0] != x.axis.Size || x.sb.Shape()[1] != b.Shape()[1] || indexOf(x.sb, 0) != indexOf(b, 0) || indexOf(x.sb, 1) != indexOf(b, 1) {
		return false
	}
	if x.sa == nil {
		return true
	}
	found.A = Scales{x.sa, tile.Substitute(x.at, func(axis *tile.Axis) tile.IndexExpr {
		if axis == x.axis {
			return tile.Const(0)
		}
		return axis
	}, nil)}
	return follows(x.sa, a) && x.sa.Array[x.sa.ArrayDim(1)] == x.sa.Shape()[1] && indexOf(x.sa, 0) == indexOf(a, 0) &&
		x.sa.Shape()[0] == a.Shape()[0] && x.at == tile.Plus(tile.Times(indexOf(a, 1), x.axis.Size), x.axis)
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
	return !slices.ContainsFunc(s.Index, func(x tile.IndexExpr) bool {
		_, is := x.(tile.Const)
		return !is && !slices.Contains(r.Index, x)
	})
}

// Uncast is e, or what it casts.
func Uncast(e *tile.Expr) *tile.Expr {
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
