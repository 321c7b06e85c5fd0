package tile

import (
	"maps"
	"slices"
)

// PartialTiles says where padding may be: for each dimension of an expression,
// which arrays may end inside it.
//
// It is part of what a program means, not an optimization: a Dot counts as zero, in both
// operands, the contraction coordinates at which either is padding; a store to an output drops
// what lies outside its array; all else computes on padding as on any other element. So a backend
//
//  1. may load anything for padding, where no Dot contracts over it;
//  2. asks Contraction(dot) while it compiles: without an edge there is nothing
//     to mask, and edges that are alike in both operands need one mask;
//  3. asks Edge.Padding for the coordinates to mask in each program.
//
// Padding that is stored in scratch stays padding when it is read back. Verify
// refuses programs in which a Dot would contract over an edge that is not Plain,
// or in which padding would be reduced by row or left in an output; of those it
// accepts, this analysis and a run that follows every element agree.
type PartialTiles struct {
	exprs map[*Expr]*noted
	refs  map[*Ref]edgeSets
}

// Of returns, for every dimension of e.Shape, the edges inside it. If e occurs
// in several statements, what is not an edge in all of them is Maybe.
func (o *PartialTiles) Of(e *Expr) [][]Edge {
	if s := o.edges(e); s != nil {
		return s
	}
	return make([][]Edge, len(e.Shape))
}

func (o *PartialTiles) edges(e *Expr) edgeSets {
	if n := o.exprs[e]; n != nil {
		return n.edges
	}
	return nil
}

// Contracted returns the dimensions of its two operands over which a Dot contracts.
func (e *Expr) Contracted() (a, b int) {
	a, b = 1, 0
	if e.TransA {
		a = 0
	}
	if e.TransB {
		b = 1
	}
	return a, b
}

// Depth is how many products each element of a Dot adds up.
func (e *Expr) Depth() int {
	a, _ := e.Contracted()
	return e.Args[0].Shape[a]
}

// Contraction returns the edges along which a Dot masks: those of either operand
// along the dimension it contracts over, less what others cover.
func (o *PartialTiles) Contraction(dot *Expr) []Edge {
	a, b := dot.Contracted()
	all := unionEdges(o.edges(dot.Args[0]).of(a), o.edges(dot.Args[1]).of(b))
	var out []Edge
	for _, plain := range []bool{true, false} {
		for _, e := range all {
			if e.Plain() == plain && !e.CoveredBy(out) {
				out = append(out, e)
			}
		}
	}
	return out
}

// PartialTiles analyses a program whose structure Verify accepts.
func (p *Program) PartialTiles() *PartialTiles {
	a := partialAnalysis{program: p, info: &PartialTiles{}}
	for _, r := range p.Refs {
		if own := ownEdges(r); own != nil {
			a.info.note(r, own)
		}
	}
	if a.info.refs == nil {
		return a.info // no array ends inside a block
	}
	a.info.exprs = map[*Expr]*noted{}
	a.run()
	return a.info
}

// ownEdges are the ends of r's own array.
func ownEdges(r *Ref) edgeSets {
	if r.Kind != In && r.Kind != Out {
		return nil
	}
	var own edgeSets
	for d, size := range r.Shape() {
		if r.Partial(d) {
			own = own.with(len(r.Shape()), d, []Edge{{Ref: r, Dim: d, Offset: Const(0), To: size}})
		}
	}
	return own
}

func (o *PartialTiles) note(r *Ref, s edgeSets) {
	if s == nil {
		return
	}
	if o.refs == nil {
		o.refs = map[*Ref]edgeSets{}
	}
	o.refs[r] = o.refs[r].union(s)
}

// partialAnalysis is the analysis in progress.
type partialAnalysis struct {
	program *Program
	info    *PartialTiles
	state   held
	round   int   // pass over the program, from 1 on
	stmt    *Stmt // being followed
	visits  int   // of statements so far
}

// noted is what is known of an expression: its edges in all statements of this
// round, and in the last visit alone.
type noted struct {
	edges, last edgeSets
	stmt        *Stmt
	round       int
	visit       int
}

// note takes in the edges of e at this visit.
func (a *partialAnalysis) note(e *Expr, s edgeSets) {
	n := a.info.exprs[e]
	switch {
	case n == nil:
		n = &noted{edges: s}
		a.info.exprs[e] = n
	case n.round != a.round, n.stmt == a.stmt:
		n.edges = s
	default:
		n.edges = n.edges.join(s)
	}
	n.last, n.stmt, n.round, n.visit = s, a.stmt, a.round, a.visits
}

// rounds bounds how often the body is followed with edges told apart; after
// that all that passes between programs is Unknown, of which there is an end.
const rounds = 8

// run follows the body, program after program, until nothing new turns up.
func (a *partialAnalysis) run() {
	start := held{}
	levels := map[*Ref]int{}
	for {
		a.round++
		a.state = maps.Clone(start)
		a.body(a.program.Body)
		next := held{}
		for r, s := range a.state {
			if _, ok := levels[r]; !ok {
				levels[r], _ = a.program.carried(r, always)
			}
			if levels[r] < len(a.program.Grid) {
				next[r] = a.program.passed(r, s, levels[r], a.round > rounds)
			}
		}
		next.join(start)
		if next.equal(start) {
			return
		}
		start = next
	}
}

// passed is what a later program may find of edges s that one left in r, which
// keeps its contents over Grid[level:].
func (p *Program) passed(r *Ref, s edgeSets, level int, widen bool) edgeSets {
	moved := func(a *Axis) bool { return a.Size > 1 && slices.Contains(p.Grid[max(level, 0):], a) }
	return s.each(r.Shape(), func(e Edge, size int) Edge {
		if widen {
			return e.unknown(size)
		}
		return e.blur(moved, size)
	})
}

func (a *partialAnalysis) body(body []*Stmt) {
	for _, s := range body {
		switch s.Kind {
		case Fill:
			a.state[s.Ref] = nil
		case Store:
			kept := a.kept(s)
			if old, ok := a.state[s.Ref]; ok && s.IsPart() {
				kept = old.join(kept)
			}
			a.state[s.Ref] = kept
		case Accumulate:
			a.state[s.Ref] = a.state[s.Ref].union(a.kept(s))
		case When:
			skipped := maps.Clone(a.state)
			a.body(s.Body)
			a.state.join(skipped)
		case Loop:
			a.loop(s)
		}
	}
}

// kept returns the edges of what s stores, less those that the end of an output array drops.
func (a *partialAnalysis) kept(s *Stmt) edgeSets {
	a.stmt = s
	a.visits++
	edges := a.visit(s.Value).without(ownEdges(s.Ref))
	a.info.note(s.Ref, edges)
	return edges
}

func (a *partialAnalysis) loop(s *Stmt) {
	moved := func(x *Axis) bool { return x == s.Axis && x.Size > 1 }
	for round := 0; ; round++ {
		before := maps.Clone(a.state)
		a.body(s.Body)
		for r, edges := range a.state {
			a.state[r] = edges.each(r.Shape(), func(e Edge, size int) Edge {
				if round > rounds {
					return e.unknown(size)
				}
				return e.blur(moved, size)
			})
		}
		after := maps.Clone(a.state)
		a.state.join(before)
		if a.state.equal(before) {
			a.state = after // the body runs at least once
			return
		}
	}
}

// held has the edges of what each written ref holds at one point of the body; a
// ref that was not written yet is absent, one that holds no padding has nil.
type held map[*Ref]edgeSets

// join takes in what another path holds.
func (h held) join(other held) {
	for r, s := range other {
		if mine, ok := h[r]; ok {
			s = mine.join(s)
		}
		h[r] = s
	}
}

func (h held) equal(other held) bool { return maps.EqualFunc(h, other, edgeSets.equal) }
