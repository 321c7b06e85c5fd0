// Package parallel is the second rung: row panels of a times column panels of
// b, each product a program of its own.
package parallel

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies panels in a parallel grid.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 2 }

// Name is the folder's.
func (Kernel) Name() string { return "v2_parallel" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Matmul) error { return p.Plain() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Matmul) []string { return []string{""} }

// Candidates has one: the panels that take the least time on the machine's cores, or, of
// a machine that does not tell, as many each way as it runs at once, their sides as its
// memory wants them.
func (Kernel) Candidates(p problem.Matmul, m problem.Machine) []tile.Blocks {
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

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Matmul, _ string, s tile.Blocks) ([]*tile.Program, error) {
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
