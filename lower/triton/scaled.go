package triton

import (
	"maps"
	"math/bits"
	"slices"

	"matladder/internal/each"
	"matladder/tile"
	"matladder/tile/groups"
)

// Matrix units of Blackwell multiply float8 and float4 by the scales of groups along k. A loop over
// groups is one product there, tt.dot_scaled, whose scales are (rows, groups) of both operands.

// seen is what was found in a program, beside what it says.
type seen struct {
	alongK map[*tile.Ref]bool             // arrays whose last two dimensions change places in memory
	scaled map[*tile.Expr]*groups.Product // products of blocks by the scales of their groups
}

// scaledFormats are how tt.dot_scaled calls dtypes.
var scaledFormats = map[tile.Dtype]string{tile.Float8E4M3FN: "e4m3", tile.Float8E5M2: "e5m2", tile.Float4E2M1FN: "e2m1"}

// scaledDepth is the least depth of a block that those matrix units take.
const scaledDepth = 64

// withScaled returns a program whose loops over groups are one product each, where the target
// multiplies so, and these products.
func (t Target) withScaled(p *tile.Program) (*tile.Program, map[*tile.Expr]*groups.Product) {
	found := map[*tile.Expr]*groups.Product{}
	if t.scaledRows == 0 {
		return p, found
	}
	var body func([]*tile.Stmt) []*tile.Stmt
	body = func(list []*tile.Stmt) []*tile.Stmt {
		out := slices.Clone(list)
		for i, s := range list {
			if s.Kind == tile.Loop {
				if g := groups.Find(p, s); g != nil && t.multiplies(p, g) {
					out[i], found[g.Dot()] = g.Stmt, g
					for i, x := range g.Dot().Args {
						g.Dot().Args[i] = groups.Uncast(x)
					}
					continue
				}
			}
			c := *s
			c.Body, out[i] = body(s.Body), &c
		}
		return out
	}
	q := *p
	if q.Body = body(p.Body); len(found) == 0 {
		return p, found
	}
	q.Refs = each.That(p.Refs, func(r *tile.Ref) bool { // not what nothing reads now
		return !slices.ContainsFunc(slices.Collect(maps.Values(found)), func(g *groups.Product) bool { return g.Column == r })
	})
	return &q, found
}

// multiplies reports whether matrix units take a product: what they do not, Triton would widen.
func (t Target) multiplies(p *tile.Program, g *groups.Product) bool {
	e := g.Dot()
	a, b, sa, sb := groups.Uncast(e.Args[0]).Ref, groups.Uncast(e.Args[1]).Ref, g.A.Ref, g.B.Ref
	if sa == nil || sa.Dtype != sb.Dtype || scaledFormats[a.Dtype] == "" || scaledFormats[b.Dtype] == "" || e.Precision == tile.Highest {
		return false
	}
	rows, depth, both := padded(a.Shape()[0], 1), a.Shape()[1], a.Dtype.Bits()+b.Dtype.Bits() == 8
	if rows < t.scaledRows || depth < scaledDepth || bits.OnesCount(uint(depth)) != 1 {
		return false
	}
	switch { // pairs of float4 share bytes
	case a.Dtype.Bits() == 4 && !halves(a, nil, a.Shape()), b.Dtype.Bits() == 4 && !turns(p, a, b) && !halves(b, nil, b.Shape()):
		return false
	case sb.Dtype == tile.Float8E4M3FN:
		return both && g.Size == 16 && turns(p, a, b)
	}
	return sb.Dtype == tile.Float8E8M0FNU && g.Size == 32 && (t.mixed || a.Dtype.Bits() == b.Dtype.Bits() && (!both || turns(p, a, b)))
}

// turns reports whether b, of float4, is copied to lie along k, as float4 by float4 wants it. As of
// all operands, one reader alone does without.
func turns(p *tile.Program, a, b *tile.Ref) bool {
	return a.Dtype.Bits() == 4 && b.Dtype.Bits() == 4 && canTurn(p, b)
}

// dotScaled is the product of whole blocks, of numbers by the scales of their groups, added to acc.
func (k *kernel) dotScaled(e *tile.Expr, g *groups.Product, acc value) value {
	a, b := e.Args[0].Ref, e.Args[1].Ref
	x, y := k.inMemory(a), k.inMemory(b)
	count := a.Shape()[1] / g.Size
	sa := *g.A.Ref // of all groups of a row those of this block
	dim := sa.ArrayDim(1)
	sa.Block, sa.Index = slices.Clone(sa.Block), slices.Clone(sa.Index)
	sa.Block[dim], sa.Index[dim] = count, a.Index[a.ArrayDim(1)]
	k.args[&sa] = k.args[g.A.Ref]
	s := k.scales(&sa, x.Dims[0], count)
	n := k.Physical(b.Shape())[1]
	t := k.transposed(k.scales(g.B.Ref, count, n))
	attrs := "lhs = " + scaledFormats[a.Dtype] + " rhs = " + scaledFormats[b.Dtype] + " {fastMath = false"
	if b.Dtype.Bits() == 4 && !k.alongK[b] {
		attrs += ", rhs_k_pack = false"
	}
	to := shaped{Elem: "f32", Dims: []int{x.Dims[0], n}}
	return k.Op(to, "tt.dot_scaled", attrs+"}", x, s, y, t, k.Vector(acc, to))
}

// inMemory is a block as it is in memory, of float4 two in a byte: along k, or along n of b that does
// not lie along k.
func (k *kernel) inMemory(r *tile.Ref) value {
	if r.Dtype.Bits() != 4 {
		return k.load(r)
	}
	lies := r
	if k.alongK[r] {
		lies = turned(r)
		k.args[lies] = k.args[r]
	}
	w := k.bytes(lies, nil, lies.Shape())
	v := k.loadAt(shaped{Elem: "i8", Dims: w.dims}, w.pointers(k), w.mask(k))
	if k.alongK[r] {
		v = k.transposed(v)
	}
	return v
}

// scales are a block of scales; those past the end are zero, as the numbers there are.
func (k *kernel) scales(r *tile.Ref, rows, columns int) value {
	w := k.window(r, nil, r.Shape(), []int{rows, columns})
	return k.loadAt(shaped{Elem: storage[r.Dtype], Dims: w.dims}, w.pointers(k), w.mask(k))
}

// turned is an array with its last two dimensions in each other's place.
func turned(r *tile.Ref) *tile.Ref {
	c := *r
	c.Array, c.Block, c.Index = slices.Clone(r.Array), slices.Clone(r.Block), slices.Clone(r.Index)
	last := len(c.Array) - 1
	for _, dims := range [][]int{c.Array, c.Block} {
		dims[last], dims[last-1] = dims[last-1], dims[last]
	}
	c.Index[last], c.Index[last-1] = c.Index[last-1], c.Index[last]
	return &c
}
