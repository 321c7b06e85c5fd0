package stablehlo

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// env is what the body of a program sees at one point of the grid: program ids
// and loop variables, and of each ref the block, in its working type, and the
// element at which that block starts along each dimension of the array. Of a
// table and of scratch the block is the whole, and starts are nil.
type env struct {
	axes   []*tile.Axis
	ids    []value
	refs   []*tile.Ref
	blocks []value
	starts [][]value
}

// ID is the id along an axis.
func (e env) ID(a *tile.Axis) value { return e.ids[slices.Index(e.axes, a)] }

func (e env) block(r *tile.Ref) value   { return e.blocks[slices.Index(e.refs, r)] }
func (e env) start(r *tile.Ref) []value { return e.starts[slices.Index(e.refs, r)] }
func (e env) set(r *tile.Ref, v value)  { e.blocks[slices.Index(e.refs, r)] = v }
func (e env) of(rs []*tile.Ref) []value { return mlir.Each(rs, e.block) }

// all lists every value, each with a name that says what it is.
func (e env) all() (hs []string, vs []value) {
	for i, a := range e.axes {
		hs, vs = append(hs, mlir.Symbol(a.Name)), append(vs, e.ids[i])
	}
	for i, r := range e.refs {
		hs, vs = append(hs, mlir.Symbol(r.Name)), append(vs, e.blocks[i])
		for _, s := range e.starts[i] {
			hs, vs = append(hs, mlir.Symbol(r.Name)+"_at"), append(vs, s)
		}
	}
	return hs, vs
}

// with returns e with the values that all lists replaced by vs.
func (e env) with(vs []value) env {
	take := func(n int) []value {
		head := slices.Clone(vs[:n])
		vs = vs[n:]
		return head
	}
	e.ids = take(len(e.ids))
	e.blocks, e.starts = slices.Clone(e.blocks), slices.Clone(e.starts)
	for i := range e.refs {
		e.blocks[i] = take(1)[0]
		e.starts[i] = take(len(e.starts[i]))
	}
	return e
}

// along returns e with a loop variable.
func (e env) along(a *tile.Axis, id value) env {
	e.axes, e.ids = append(slices.Clone(e.axes), a), append(slices.Clone(e.ids), id)
	return e
}
