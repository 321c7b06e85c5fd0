// Package parallel is the second rung: row panels of a times column panels of
// b, each product a program of its own.
package parallel

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies panels in a parallel grid.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 2, Name: "v2_parallel",
	Supports: problem.Matmul.Plain, Blocks: blocks, Build: build,
}

// blocks has one: the panels that take the least time on the machine's cores, or, of
// a machine that does not tell, as many each way as it runs at once, their sides as its
// memory wants them.
func blocks(p problem.Matmul, m problem.Machine) []tile.Blocks {
	if best := m.Cores.Rank(p, tile.Blocks{K: p.K}); best != nil {
		return best[:1]
	}
	panels := max(2, m.Parallel)
	rows := max(1, m.Align[p.A][0], m.Align[p.Out][0])
	columns := max(1, m.Align[p.B][1], m.Align[p.Out][1])
	return tile.Candidates(p.M, p.K, p.N, tile.Blocks{
		M: tile.Ceil(tile.Ceil(p.M, panels), rows) * rows,
		K: p.K,
		N: tile.Ceil(tile.Ceil(p.N, panels), columns) * columns,
	})
}

// build writes the kernel as a tile program.
func build(p problem.Matmul, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_parallel")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	zero := tile.Const(0)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, zero))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(zero, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))

	t.Store(o, tile.Cast(tile.Dot(a, b, tile.AtPrecision(p.Precision)), p.Out))
	return t.Programs()
}
