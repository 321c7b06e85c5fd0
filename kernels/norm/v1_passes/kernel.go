// Package passes is the first rung of norm: a pass over memory for each step of the formula.
package passes

import (
	"errors"

	"matladder/kernels/norm/rows"
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a norm in programs that hand a number for each row to the next.
var Kernel = problem.Rung[problem.Norm]{
	Number: 1, Name: "v1_passes",
	Supports: problem.Norm.Validate, Blocks: blocks, Build: build,
}

// blocks has one: 64 rows at a time.
func blocks(p problem.Norm, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 64})
}

// build writes the kernel as three tile programs; as two if there is no mean.
func build(p problem.Norm, _ string, s tile.Blocks) (programs []*tile.Program, err error) {
	name, one := "v1_passes", tile.Array(p.Rows, 1)
	pass := func(body func(t *tile.Builder, b rows.Blocks, column tile.BlockSpec), next string) {
		t := tile.New(name)
		i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
		body(t, rows.See(t, p, i, s.M), tile.Block(s.M, 1).At(i, tile.Const(0)))
		list, wrong := t.Programs()
		programs, err, name = append(programs, list...), errors.Join(err, wrong), next
	}
	centred := func(t *tile.Builder, x *tile.Expr, column tile.BlockSpec) *tile.Expr {
		if p.RMS {
			return x
		}
		return tile.Sub(x, t.In("mean", tile.Float32, one, column))
	}

	if !p.RMS {
		pass(func(t *tile.Builder, b rows.Blocks, column tile.BlockSpec) {
			mean := t.Out("mean", tile.Float32, one, column)
			t.Store(mean, b.Mean(b.Row()))
		}, "v1_passes_square")
	}
	pass(func(t *tile.Builder, b rows.Blocks, column tile.BlockSpec) {
		x := centred(t, b.Row(), column)
		square := t.Out("square", tile.Float32, one, column)
		t.Store(square, b.Mean(tile.Mul(x, x)))
	}, "v1_passes_divide")
	pass(func(t *tile.Builder, b rows.Blocks, column tile.BlockSpec) {
		x := centred(t, b.Kept(), column)
		square := t.In("square", tile.Float32, one, column)
		b.End(tile.Mul(x, b.Inverse(square)))
	}, "")
	return programs, err
}
