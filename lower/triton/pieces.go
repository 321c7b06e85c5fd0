package triton

import (
	"slices"

	"matladder/tile"
	"matladder/tile/groups"
)

// strictStep is how much of k one product of float32 takes that no matrix unit multiplies:
// threads have their rows and columns of it in registers.
const strictStep = 16

// mostPieces bounds how often a product is written.
const mostPieces = 16

// pieces returns a program whose products each take so little of k that their operands fit the
// registers of their threads, and the sums that were products: of a whole block of k they would
// go out to memory and come back. Only what comes from memory is taken in pieces.
func (t Target) pieces(p *tile.Program, scaled map[*tile.Expr]*groups.Product) (*tile.Program, map[*tile.Expr]bool) {
	sums := map[*tile.Expr]bool{}
	body := t.shorter(p.Body, scaled, sums)
	if len(sums) == 0 {
		return p, sums
	}
	q := *p
	q.Body = body
	return &q, sums
}

func (t Target) shorter(body []*tile.Stmt, scaled map[*tile.Expr]*groups.Product, sums map[*tile.Expr]bool) []*tile.Stmt {
	out := make([]*tile.Stmt, len(body))
	for i, s := range body {
		c := *s
		c.Body = t.shorter(s.Body, scaled, sums)
		if s.Value != nil && scaled[s.Value] == nil {
			c.Value = tile.Rewriting(func(_, e *tile.Expr) *tile.Expr {
				if e.Op == tile.OpDot {
					return t.parted(e, s.Value, sums)
				}
				return e
			}).Expr(s.Value)
		}
		out[i] = &c
	}
	return out
}

// step is how much of k one product takes at a time; 0 for all.
func (t Target) step(e *tile.Expr, k int) int {
	n := 0
	switch {
	case strict(e) && !t.float32s:
		n = strictStep
	case t.operandBytes > 0:
		n = t.operandBytes * 8 / max(e.Args[0].Dtype.Bits(), e.Args[1].Dtype.Bits())
	default:
		return 0
	}
	for n*mostPieces < k {
		n *= 2
	}
	return n
}

// parted is a product of a statement's value as a sum of products, or as it is.
func (t Target) parted(e, whole *tile.Expr, sums map[*tile.Expr]bool) *tile.Expr {
	var dims [2]int
	dims[0], dims[1] = e.Contracted()
	size := e.Args[0].Shape[dims[0]]
	step := t.step(e, size)
	if step == 0 || size <= step {
		return e
	}
	for _, x := range e.Args {
		if s := source(x); s == nil || uses(whole, s.Ref) > 1 {
			return e // what is loaded whole is in registers
		}
	}
	var sum *tile.Expr
	for from := 0; from < size; from += step {
		c := *e
		c.Args = make([]*tile.Expr, 2)
		for i, x := range e.Args {
			if c.Args[i] = part(x, dims[i], from, min(step, size-from)); c.Args[i] == nil {
				return e
			}
		}
		if sum == nil {
			sum = &c
			continue
		}
		sum = &tile.Expr{Op: tile.OpAdd, Args: []*tile.Expr{sum, &c}, Dtype: e.Dtype, Shape: e.Shape, Pos: e.Pos}
		sums[sum] = true
	}
	return sum
}

// uses counts the places of an expression that read r.
func uses(e *tile.Expr, r *tile.Ref) int {
	n := 0
	tile.WalkExpr(e, func(x *tile.Expr) {
		for _, arg := range x.Args {
			if arg.Op == tile.OpLoad && arg.Ref == r {
				n++
			}
		}
	})
	return n
}

// part is n elements of an operand along a dimension; nil if it would have to be
// cut in two dimensions.
func part(e *tile.Expr, dim, from, n int) *tile.Expr {
	shape := slices.Clone(e.Shape)
	shape[dim] = n
	c := *e
	c.Shape = shape
	switch e.Op {
	case tile.OpCast:
		x := part(e.Args[0], dim, from, n)
		if x == nil {
			return nil
		}
		c.Args = []*tile.Expr{x}
	case tile.OpSlice:
		if e.Dim != dim {
			return nil
		}
		c.Index = tile.Plus(e.Index, tile.Const(from))
	default:
		c = tile.Expr{Op: tile.OpSlice, Args: []*tile.Expr{e}, Dtype: e.Dtype, Shape: shape, Index: tile.Const(from), Dim: dim, Pos: e.Pos}
	}
	return &c
}

// addTo adds a product, or products that were one, to acc.
func (k *kernel) addTo(e *tile.Expr, acc value) value {
	if k.sums[e] {
		return k.addTo(e.Args[1], k.addTo(e.Args[0], acc))
	}
	return k.dot(e, acc)
}
