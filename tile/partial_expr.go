package tile

import (
	"slices"

	"matladder/internal/each"
)

// visit returns the edges of e as it is evaluated at this point of the body, and
// notes them for it and everything inside it.
func (a *partialAnalysis) visit(e *Expr) edgeSets {
	if n := a.info.exprs[e]; n != nil && n.visit == a.visits {
		return n.last
	}
	args := each.Of(e.Args, a.visit)
	var s edgeSets
	switch e.Op {
	case OpLoad:
		s = ownEdges(e.Ref).union(a.state[e.Ref])
	case OpDot:
		s = dotEdges(e, args)
	case OpSelect:
		s = selectEdges(e, args)
	case OpAnd, OpOr: // false and padding is false, as is padding where the other is false for sure
		decided := e.Op == OpAnd
		s = args[0].without(exclusions(e.Args[1], decided)).join(args[1].without(exclusions(e.Args[0], decided)))
	case OpReduceMax, OpReduceSum:
		s = args[0].with(len(e.Shape), e.Dim, nil)
	case OpBroadcast:
		s = broadcastEdges(e, args[0])
	case OpSlice:
		s = sliceEdges(e, args[0])
	case OpConcat:
		s = concatEdges(e, args)
	default: // elementwise; constants, iota and in_bounds have no operand
		for _, arg := range args {
			s = s.union(arg)
		}
	}
	if s.size() == 0 {
		s = nil
	}
	a.note(e, s)
	return s
}

func dotEdges(e *Expr, args []edgeSets) edgeSets {
	m, n := 0, 1
	if e.TransA {
		m = 1
	}
	if e.TransB {
		n = 0
	}
	return edgeSets(nil).with(2, 0, args[0].of(m)).with(2, 1, args[1].of(n))
}

// selectEdges clears, from what is selected on either side, the edges that the
// condition excludes there.
func selectEdges(e *Expr, args []edgeSets) edgeSets {
	cond, then, other := e.Args[0], args[1], args[2]
	then = then.without(exclusions(cond, true))
	other = other.without(exclusions(cond, false))
	return then.join(other).union(args[0])
}

// exclusions are the edges whose padding is nowhere in the coordinates at which cond is as said.
func exclusions(cond *Expr, is bool) edgeSets {
	switch cond.Op {
	case OpInBounds:
		for d, size := range cond.Shape {
			if is && size > 1 {
				return edgeSets(nil).with(len(cond.Shape), d, []Edge{{Ref: cond.Ref, Dim: cond.Dim, Offset: Const(0), To: size}})
			}
		}
	case OpAnd, OpOr:
		if is == (cond.Op == OpAnd) {
			return exclusions(cond.Args[0], is).union(exclusions(cond.Args[1], is))
		}
	case OpNot:
		return exclusions(cond.Args[0], !is)
	case OpBroadcast:
		return broadcastEdges(cond, exclusions(cond.Args[0], is))
	case OpSlice:
		return sliceEdges(cond, exclusions(cond.Args[0], is))
	}
	return nil
}

func broadcastEdges(e *Expr, src edgeSets) edgeSets {
	if src.size() == 0 {
		return nil
	}
	from := e.Args[0].Shape
	out := make(edgeSets, len(e.Shape))
	for d := range from {
		to := len(e.Shape) - len(from) + d
		if from[d] == e.Shape[to] {
			out[to] = src[d]
			continue
		}
		out[to] = mapEdges(src[d], func(edge Edge) Edge {
			if edge.Unknown {
				return edge.unknown(e.Shape[to])
			}
			if !edge.Stretched {
				edge.Offset = Plus(edge.Offset, Const(edge.From)) // the element that this coordinate stands for
			}
			edge.Stretched, edge.From, edge.To = true, 0, e.Shape[to]
			return edge
		})
	}
	return out
}

func sliceEdges(e *Expr, src edgeSets) edgeSets {
	if src.size() == 0 {
		return nil
	}
	whole, size := e.Args[0].Shape[e.Dim], e.Shape[e.Dim]
	at := bounds(e.Index, everyID)
	start, static := e.Index, at.known && at.lo == at.hi
	if static {
		start = Const(at.lo)
	}
	moved := mapEdges(src.of(e.Dim), func(edge Edge) Edge {
		everywhere := edge.From == 0 && edge.To == whole
		if edge.Unknown || !static && (!everywhere || size == whole) {
			return edge.unknown(size)
		}
		if !edge.Stretched {
			edge.Offset = Plus(edge.Offset, start)
		}
		if everywhere {
			edge.From, edge.To = 0, size
		} else {
			edge.From, edge.To = max(edge.From-at.lo, 0), min(edge.To-at.lo, size)
		}
		return edge
	})
	return src.with(len(e.Shape), e.Dim, moved)
}

// concatEdges moves the edges of each part to its place. Along the other dimensions an edge holds
// for all of the result only if every part has it, or one that ends there too.
func concatEdges(e *Expr, args []edgeSets) edgeSets {
	rank := len(e.Shape)
	out := make(edgeSets, rank)
	at := 0
	for i, arg := range args {
		for d, edges := range arg {
			out[d] = unionEdges(out[d], mapEdges(edges, func(edge Edge) Edge {
				switch {
				case edge.Unknown, d != e.Dim && slices.ContainsFunc(args, func(part edgeSets) bool { return !edge.CoveredBy(part.of(d)) }):
					return edge.unknown(e.Shape[d])
				case d != e.Dim:
					return edge
				}
				edge.From, edge.To = edge.From+at, edge.To+at
				if !edge.Stretched {
					edge.Offset = Plus(edge.Offset, Const(-at))
				}
				return edge
			}))
		}
		at += e.Args[i].Shape[e.Dim]
	}
	return out
}
