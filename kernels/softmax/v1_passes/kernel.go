// Package passes is the first rung of softmax: a pass over memory for each step of the formula.
package passes

import (
	"errors"

	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a softmax in three programs, which hand arrays to each other.
var Kernel = problem.Rung[problem.Softmax]{
	Number: 1, Name: "v1_passes",
	Supports: problem.Softmax.Validate, Blocks: blocks, Build: build,
}

// blocks has one: 64 rows at a time.
func blocks(p problem.Softmax, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 64})
}

// build writes the kernel as three tile programs.
func build(p problem.Softmax, _ string, s tile.Blocks) (programs []*tile.Program, err error) {
	pass := func(name string, body func(t *tile.Builder, rows func(cols int) tile.BlockSpec)) {
		t := tile.New(name)
		i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
		body(t, func(cols int) tile.BlockSpec { return tile.Block(s.M, cols).At(i, tile.Const(0)) })
		list, wrong := t.Programs()
		programs, err = append(programs, list...), errors.Join(err, wrong)
	}
	all, one := tile.Array(p.Rows, p.Cols), tile.Array(p.Rows, 1)

	pass("v1_passes", func(t *tile.Builder, rows func(cols int) tile.BlockSpec) {
		x := t.In("x", p.X, all, rows(p.Cols))
		m := t.Out("m", tile.Float32, one, rows(1))
		t.Store(m, tile.RowMax(tile.Cast(x, tile.Float32)))
	})
	pass("v1_passes_exp", func(t *tile.Builder, rows func(cols int) tile.BlockSpec) {
		x := t.In("x", p.X, all, rows(p.Cols))
		m := t.In("m", tile.Float32, one, rows(1))
		e := t.Out("e", tile.Float32, all, rows(p.Cols))
		t.Store(e, tile.Exp(tile.Sub(tile.Cast(x, tile.Float32), m)))
	})
	pass("v1_passes_divide", func(t *tile.Builder, rows func(cols int) tile.BlockSpec) {
		e := t.In("e", tile.Float32, all, rows(p.Cols))
		o := t.Out("o", p.Out, all, rows(p.Cols))
		sum := t.Scratch("sum", tile.Float32, s.M, 1)
		t.Store(sum, tile.RowSum(e))
		t.Store(o, tile.Cast(tile.Div(e, sum), p.Out))
	})
	return programs, err
}
