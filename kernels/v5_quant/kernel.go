// Package quantized is the fifth rung: narrow operands, a wide accumulator in
// scratch, and an epilogue that scales and casts once.
package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies narrow blocks and accumulates wide.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 5 }

// Name is the folder's.
func (Kernel) Name() string { return "v5_quant" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Matmul) error { return p.Scaled() }

// Variants has the plain kernel and, where rows of a are quantized inside the
// launch, the one that does so in the same program.
func (Kernel) Variants(p problem.Matmul) []string { return variants(p) }

// Candidates has those shapes that take the least time on the machine, the best first,
// or, of a machine that does not tell, the fourth rung's.
func (Kernel) Candidates(p problem.Matmul, m problem.Machine) []tile.Blocks { return candidates(p, m) }

// Build writes the kernel as a tile program, behind those that quantize a.
func (Kernel) Build(p problem.Matmul, variant string, s tile.Blocks) ([]*tile.Program, error) {
	if variant == fused {
		return buildFused(p, s)
	}
	t, ahead, err := start(p, s)
	if err != nil {
		return nil, err
	}
	last, err := t.product(t.a, t.p.A)
	return append(ahead, last...), err
}

// product writes the program that multiplies a, of that name and dtype, by b.
func (t *program) product(name string, d tile.Dtype) ([]*tile.Program, error) {
	p, s := t.p, t.s
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In(name, d, t.array(p.M, p.K), t.block(s.M, s.K).at(i, k))
	b := t.In("b", p.B, t.array(p.K, p.N), t.block(s.K, s.N).at(k, j))
	q := t.quantization(i, j, k)
	o := t.Out("o", p.Out, t.array(p.M, p.N), t.block(s.M, s.N).at(i, j))
	acc := t.Scratch("acc", q.accumulator, s.M, s.N)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.accumulate(q, acc, a, b) // acc += dot(a, b)
	t.When(k.Last(), func() { t.Store(o, tile.Cast(q.scaled(acc), p.Out)) })
	return t.Programs()
}
