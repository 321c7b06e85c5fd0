// Package mx is the sixth rung: groups of 16 or 32 elements along k share a scale, so sums
// cannot wait for the epilogue: each group is summed, scaled, and added to the others.
package mx

import (
	"matladder/kernels/scaled"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies narrow blocks group by group and accumulates what the groups stand for.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 6, Name: name, RequestsVMEM: true,
	Supports: problem.Matmul.Grouped, Variants: variants, Blocks: scaled.Shapes, Build: build,
}

const name = "v6_mx"

// build writes the kernel as a tile program, behind one that quantizes a.
func build(p problem.Matmul, variant string, s tile.Blocks) ([]*tile.Program, error) {
	t, ahead, err := start(p, variant, s)
	if err != nil {
		return nil, err
	}
	write := product
	if variant == decoded {
		write = decodedProduct
	}
	last, err := write(t)
	return append(ahead, last...), err
}

// product writes the program that multiplies a by b.
func product(t *scaled.Program) ([]*tile.Program, error) {
	p, s := t.P, t.S
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In(t.A, t.TypeOfA, t.Array(p.M, p.K), t.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, t.Array(p.K, p.N), t.Block(s.K, s.N).At(k, j))
	q := groupsOf(t, i, j, k) // sa, sb: the scales of the groups
	o := t.Out("o", p.Out, t.Array(p.M, p.N), t.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	q.oneOfA()

	t.When(k.First(), func() { t.Fill(acc, 0) })
	q.each(a, b, func(g group) {
		sum := tile.Cast(g.dot(), tile.Float32) // dot(a, b) of one group
		t.Accumulate(acc, times(times(sum, g.sb), g.sa))
	})
	t.When(k.Last(), func() { t.Store(o, tile.Cast(q.Scaled(acc), p.Out)) })
	return t.Programs()
}
