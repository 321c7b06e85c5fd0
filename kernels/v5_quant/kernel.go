// Package quantized is the fifth rung: narrow operands, a wide accumulator in
// scratch, and an epilogue that scales and casts once.
package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies narrow blocks and accumulates wide.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 5, Name: "v5_quant", RequestsVMEM: true,
	Supports: problem.Matmul.Scaled, Variants: variants, Blocks: shapes, Build: build,
}

// build writes the kernel as a tile program, behind those that quantize a.
func build(p problem.Matmul, variant string, s tile.Blocks) ([]*tile.Program, error) {
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
