// Package quantized is the fifth rung: narrow operands, a wide accumulator in
// scratch, and an epilogue that scales and casts once.
package quantized

import (
	"cmp"

	"matladder/kernels/scaled"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies narrow blocks and accumulates wide.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 5, Name: name, RequestsVMEM: true,
	Supports: problem.Matmul.Scaled, Variants: variants, Blocks: scaled.Shapes, Build: build,
}

const name = "v5_quant"

// build writes the kernel as a tile program, behind those that quantize a.
func build(p problem.Matmul, variant string, s tile.Blocks) ([]*tile.Program, error) {
	if scheme, err := p.Scheme(); err != nil || scheme.B == problem.Block {
		return nil, cmp.Or(err, p.Scaled())
	}
	if variant == fused {
		return buildFused(p, s)
	}
	t, ahead, err := scaled.Start(name, p, s)
	if err != nil {
		return nil, err
	}
	last, err := product(t)
	return append(ahead, last...), err
}

// product writes the program that multiplies a, as it is after quantization, by b.
func product(t *scaled.Program) ([]*tile.Program, error) {
	p, s := t.P, t.S
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In(t.A, p.A, t.Array(p.M, p.K), t.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, t.Array(p.K, p.N), t.Block(s.K, s.N).At(k, j))
	q := t.Quantization(i, j)
	o := t.Out("o", p.Out, t.Array(p.M, p.N), t.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", p.Acc, s.M, s.N)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, q.Dot(a, b))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(q.Scaled(acc), p.Out)) })
	return t.Programs()
}
