package tile

import (
	"slices"

	"matladder/internal/each"
)

// Edge is the end of an array that may lie inside one dimension of an
// expression: some of the coordinates From … To-1 there may be padding.
//
// Coordinate x stands for element x+Offset of Ref's block along Dim, or, if
// Stretched, for element Offset whatever x is (a dimension of size 1 that was
// broadcast). Only a Plain edge can be masked by a Dot.
type Edge struct {
	Ref       *Ref
	Dim       int       // of Ref.Shape()
	Offset    IndexExpr // in elements of Ref's block
	From, To  int       // coordinates of the expression
	Stretched bool
	Maybe     bool // padding on some paths through the body only, or where a condition chose it
	Unknown   bool // which coordinates are padding cannot be told: another program left them, or a slice moves over a concat
}

// Plain reports whether the padding is just what lies past the end of the array.
func (e Edge) Plain() bool { return !e.Stretched && !e.Maybe && !e.Unknown }

// arrayDim is the dimension of the array that the edge ends.
func (e Edge) arrayDim() int { return e.Ref.ArrayDim(e.Dim) }

// alike reports whether f pads the same coordinates as e in every program,
// whatever the range of either: two arrays of one extent, cut alike.
func (e Edge) alike(f Edge) bool {
	if e.Unknown || f.Unknown || e.Stretched != f.Stretched || e.Offset != f.Offset {
		return false
	}
	i, j := e.arrayDim(), f.arrayDim()
	return e.Ref.Array[i] == f.Ref.Array[j] && e.Ref.BlockSize(i) == f.Ref.BlockSize(j) && e.Ref.Step(i) == f.Ref.Step(j) && e.Ref.Index[i] == f.Ref.Index[j]
}

// reaches reports whether any coordinate of the edge can be padding at all: the
// last block keeps a number of elements, and a slice may end before it.
func (e Edge) reaches() bool {
	if e.From >= e.To {
		return false
	}
	d := e.arrayDim()
	last := e.Ref.lastInside(d)
	at := bounds(e.Offset, everyID)
	if !e.Stretched {
		at.hi = addSaturated(at.hi, e.To-1)
	}
	return e.Unknown || !at.known || at.hi >= last
}

// blur makes the edge, inside a dimension of a size, Unknown if what it depends
// on changes with an axis of which moved is true.
func (e Edge) blur(moved func(*Axis) bool, size int) Edge {
	if dependsOn(e.Ref.Index[e.arrayDim()], moved) || dependsOn(e.Offset, moved) {
		return e.unknown(size)
	}
	return e
}

// unknown is the edge anywhere inside a dimension of a size. All of one array
// dimension are equal, so there are only so many of them.
func (e Edge) unknown(size int) Edge {
	return Edge{Ref: e.Ref, Dim: e.Dim, Offset: Const(0), To: size, Unknown: true}
}

// edgeSets has one set of edges for each dimension of a shape; nil for none at
// all. Sets are shared and never changed in place.
type edgeSets [][]Edge

func (s edgeSets) of(dim int) []Edge {
	if s == nil {
		return nil
	}
	return s[dim]
}

// with returns s, of the given rank, with edges as the set of dimension dim.
func (s edgeSets) with(rank, dim int, edges []Edge) edgeSets {
	if len(s.of(dim)) == 0 && len(edges) == 0 {
		return s
	}
	out := make(edgeSets, rank)
	copy(out, s)
	out[dim] = edges
	return out
}

// union returns the edges of a value made of two, element by element.
func (s edgeSets) union(t edgeSets) edgeSets {
	switch {
	case s == nil:
		return t
	case t == nil:
		return s
	}
	return each.Upto(len(s), func(d int) []Edge { return unionEdges(s[d], t[d]) })
}

// join returns the edges of a value that is one of two: what only one has is Maybe.
func (s edgeSets) join(t edgeSets) edgeSets {
	if s.equal(t) {
		return s
	}
	out := make(edgeSets, max(len(s), len(t)))
	for d := range out {
		a, b := s.of(d), t.of(d)
		out[d] = unionEdges(
			mapEdges(a, func(e Edge) Edge { e.Maybe = e.Maybe || !e.CoveredBy(b); return e }),
			mapEdges(b, func(e Edge) Edge { e.Maybe = e.Maybe || !e.CoveredBy(a); return e }))
	}
	return out
}

// equal reports whether s and t hold the same edges.
func (s edgeSets) equal(t edgeSets) bool {
	if s.size() != t.size() {
		return false
	}
	for d, edges := range s {
		if slices.ContainsFunc(edges, func(e Edge) bool { return !slices.Contains(t.of(d), e) }) {
			return false
		}
	}
	return true
}

// each returns s, of a value of the given shape, with f applied to every edge
// and the size of the dimension it is in.
func (s edgeSets) each(shape []int, f func(Edge, int) Edge) edgeSets {
	if s == nil {
		return nil
	}
	return each.Upto(len(s), func(d int) []Edge { return mapEdges(s[d], func(e Edge) Edge { return f(e, shape[d]) }) })
}

// without returns s less the edges that those of t cover, in every program.
func (s edgeSets) without(t edgeSets) edgeSets {
	if s.size() == 0 || t.size() == 0 {
		return s
	}
	return each.Upto(len(s), func(d int) []Edge { return each.That(s[d], func(e Edge) bool { return !e.CoveredBy(t[d]) }) })
}

// size returns the number of edges in all dimensions.
func (s edgeSets) size() int { return each.Sum(s, func(edges []Edge) int { return len(edges) }) }

func unionEdges(a, b []Edge) []Edge {
	out := a[:len(a):len(a)]
	for _, e := range b {
		out = each.With(out, e)
	}
	return out
}

// CoveredBy reports whether one of edges pads whatever e pads, as surely.
func (e Edge) CoveredBy(edges []Edge) bool {
	return slices.ContainsFunc(edges, func(by Edge) bool {
		return by == e || by.alike(e) && by.From <= e.From && by.To >= e.To && (e.Maybe || !by.Maybe)
	})
}

// mapEdges applies f and merges edges that become equal or can no longer reach.
func mapEdges(edges []Edge, f func(Edge) Edge) []Edge {
	var out []Edge
	for _, e := range edges {
		if e = f(e); e.reaches() {
			out = each.With(out, e)
		}
	}
	return out
}
