package tile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/tile"
	"matladder/tile/tiletest"
)

// paddingWorld makes random expressions over ragged arrays, in a program of two
// grid axes and a loop, and knows element by element what is padding.
type paddingWorld struct {
	*rand.Rand
	refs []*tile.Ref
	loop *tile.Axis
}

const side = 6 // of every block and every expression

// expr returns an expression of shape [side, side].
func (w *paddingWorld) expr(depth int) *tile.Expr {
	if depth == 0 {
		if w.IntN(4) == 0 {
			return tile.Broadcast(tile.Cast(tile.Number(1), tile.Float32), side, side)
		}
		return tile.Add(w.refs[w.IntN(len(w.refs))], tile.Number(0))
	}
	x, y := w.expr(depth-1), w.expr(depth-1)
	dim := w.IntN(2)
	switch w.IntN(6) {
	case 0:
		return tile.Add(x, y)
	case 1: // one row or column, repeated
		return tile.Broadcast(tile.Slice(x, dim, tile.Const(w.IntN(side)), 1), side, side)
	case 2: // pieces put together
		n := w.IntN(side-1) + 1
		return tile.Concat(dim, tile.Slice(x, dim, tile.Const(w.IntN(side-n+1)), n), tile.Slice(y, dim, tile.Const(w.IntN(n+1)), side-n))
	case 3: // pieces that move
		return tile.Concat(dim, tile.Slice(x, dim, w.loop, 3), tile.Slice(x, dim, tile.Plus(w.loop, tile.Const(1)), 3))
	}
	return tile.Select(w.cond(), x, y)
}

func (w *paddingWorld) cond() *tile.Expr {
	r, dim := w.refs[w.IntN(len(w.refs))], w.IntN(2)
	c := tile.InBounds(r, dim)
	switch w.IntN(5) {
	case 0:
		c = tile.Broadcast(tile.Slice(c, dim, tile.Const(w.IntN(side)), 1), side, side)
	case 1:
		c = tile.And(c, tile.InBounds(w.refs[0], 1-dim))
	case 2:
		c = tile.Invert(tile.Or(tile.Invert(c), tile.InBounds(w.refs[1], w.IntN(2))))
	case 3:
		c = tile.Invert(c)
	}
	return c
}

// element is what one element of an expression is: a condition's value, and
// whether it is padding.
type element struct{ holds, padding bool }

// at evaluates element (i, j) of e.
func at(e *tile.Expr, i, j int, env tile.Env) element {
	sub := func(n int) element { return at(e.Args[n], i, j, env) }
	switch e.Op {
	case tile.OpLoad:
		return element{padding: !inside(e.Ref, 0, i, env) || !inside(e.Ref, 1, j, env)}
	case tile.OpInBounds:
		return element{holds: inside(e.Ref, e.Dim, i+j, env)} // the other coordinate is 0
	case tile.OpAdd:
		return element{padding: sub(0).padding || sub(1).padding}
	case tile.OpAnd:
		return element{holds: sub(0).holds && sub(1).holds}
	case tile.OpOr:
		return element{holds: sub(0).holds || sub(1).holds}
	case tile.OpNot:
		return element{holds: !sub(0).holds}
	case tile.OpSelect:
		if sub(0).holds {
			return sub(1)
		}
		return sub(2)
	case tile.OpBroadcast:
		x := e.Args[0]
		if len(x.Shape) == 0 {
			return element{}
		}
		return at(x, min(i, x.Shape[0]-1), min(j, x.Shape[1]-1), env)
	case tile.OpSlice:
		from := []int{i, j}
		from[e.Dim] += tile.Eval(e.Index, env)
		return at(e.Args[0], from[0], from[1], env)
	case tile.OpConcat:
		from := []int{i, j}
		for _, x := range e.Args {
			if from[e.Dim] < x.Shape[e.Dim] {
				return at(x, from[0], from[1], env)
			}
			from[e.Dim] -= x.Shape[e.Dim]
		}
	case tile.OpConst:
		return element{}
	}
	panic("no such element")
}

func inside(r *tile.Ref, dim, i int, env tile.Env) bool {
	return tile.Eval(r.Index[dim], env)*r.Block[dim]+i < r.Array[dim]
}

// TestPartialTiles_ElementByElement compares the edges of random expressions with
// what each element is in every program.
func TestPartialTiles_ElementByElement(t *testing.T) {
	sure, possible := 0, 0
	for seed := range uint64(1500) {
		b := tile.New("padding")
		i, k := b.Axis("i", 2, tile.Parallel), b.Axis("k", 2, tile.Arbitrary)
		w := &paddingWorld{Rand: rand.New(rand.NewPCG(seed, 9))}
		w.refs = []*tile.Ref{
			b.In("x", tile.Float32, tile.Array(10, 11), tile.Block(side, side).At(i, k)),
			b.In("y", tile.Float32, tile.Array(10, 12), tile.Block(side, side).At(i, k)),
			b.In("z", tile.Float32, tile.Array(11, 10), tile.Block(side, side).At(k, i)),
		}
		s := b.Scratch("s", tile.Float32, side, side)
		var e *tile.Expr
		b.Loop("l", 3, func(l *tile.Axis) {
			w.loop = l
			e = w.expr(w.IntN(4))
			b.Store(s, e)
		})
		programs, err := b.Programs()
		if err != nil {
			t.Fatal(err)
		}
		edges := programs[0].PartialTiles().Of(e)
		for n := range 2 * 2 * 3 {
			env := ids{"i": n & 1, "k": n >> 1 & 1, "l": n >> 2}
			for c := range side * side {
				must, may := covers(edges[0], c/side, env)
				must1, may1 := covers(edges[1], c%side, env)
				is := at(e, c/side, c%side, env).padding
				if is && !(may || may1) || !is && (must || must1) {
					t.Fatalf("seed %d: element (%d, %d) at %v: padding %v, but the edges are\n%v\n%s",
						seed, c/side, c%side, env, is, edges, programs[0])
				}
				if is {
					possible++
					if must || must1 {
						sure++
					}
				}
			}
		}
	}
	if sure*2 < possible {
		t.Errorf("of %d padded elements only %d are known to be", possible, sure)
	}
}

// covers reports whether coordinate c must, or may, be padding by edges.
func covers(edges []tile.Edge, c int, env tile.Env) (must, may bool) {
	for _, e := range edges {
		if e.Unknown {
			may = true
			continue
		}
		if from, to := tiletest.Padding(e, env); c >= from && c < to {
			may, must = true, must || !e.Maybe
		}
	}
	return must, may
}

// TestPartialTiles_Programs names the edges along which each Dot of a program masks.
func TestPartialTiles_Programs(t *testing.T) {
	want := map[string]string{
		"flash_attention":  "dot 0: ; dot 1: ; dot 2: v.0[0:16]",
		"grouped_matmul":   "dot 0: x.1[0:8]",
		"batched_swizzled": "dot 0: x.1[0:8]",
		"int4_subchannel":  "dot 0: x.1[0:16]+s*16",
		"layer_norm":       "",
		"blockwise_sum":    "",
		"rows_from":        "dot 0: ",
	}
	for _, p := range programs {
		built, err := p.build()
		if err != nil {
			t.Fatal(err)
		}
		info := built[0].PartialTiles()
		var got []string
		built[0].Walk(func(s *tile.Stmt) {
			if s.Value == nil {
				return
			}
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				if e.Op == tile.OpDot {
					text := fmt.Sprintf("dot %d: ", len(got))
					for _, edge := range info.Contraction(e) {
						text += fmt.Sprintf("%s.%d[%d:%d]", edge.Ref.Name, edge.Dim, edge.From, edge.To)
						if edge.Offset != tile.IndexExpr(zero) {
							text += "+" + edge.Offset.String()
						}
					}
					got = append(got, text)
				}
			})
		})
		if text := strings.Join(got, "; "); text != want[p.name] {
			t.Errorf("%s: got %s, want %s", p.name, text, want[p.name])
		}
	}
}
