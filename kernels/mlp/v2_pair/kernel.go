// Package pair is the second rung of mlp: one program with an accumulator for gate and one
// for up, which meet before anything is written.
package pair

import (
	"matladder/kernels/mlp/gates"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies each block of x by two blocks of weights.
var Kernel = problem.Rung[problem.MLP]{
	Number: 2, Name: "v2_pair", RequestsVMEM: true,
	Supports: problem.MLP.Validate, Blocks: blocks, Build: build,
}

// blocks has those shapes that take the least time on the machine for both products
// together, or, of a machine that does not tell, a sweep.
func blocks(p problem.MLP, m problem.Machine) []tile.Blocks {
	list := m.Rank(p)
	if list == nil {
		list = []tile.Blocks{{M: 128, K: 128, N: 64}, {M: 256, K: 512, N: 128}, {M: 512, K: 512, N: 256}, {M: 512, K: 1024, N: 256}}
	}
	return problem.ClipAll(p, list...)
}

// build writes the kernel as a tile program.
func build(p problem.MLP, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_pair")
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	x := t.In("x", p.X, tile.Array(p.Rows, p.K), tile.Block(s.M, s.K).At(i, k))
	weights := tile.Block(s.K, s.N).At(k, j)
	gate := t.In("gate", p.W, tile.Array(p.K, p.N), weights)
	up := t.In("up", p.W, tile.Array(p.K, p.N), weights)
	o := t.Out("o", p.X, tile.Array(p.Rows, p.N), tile.Block(s.M, s.N).At(i, j))
	gated := t.Scratch("gated", tile.Float32, s.M, s.N)
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)

	for _, product := range []struct{ sums, weights *tile.Ref }{{gated, gate}, {acc, up}} {
		t.When(k.First(), func() { t.Fill(product.sums, 0) })
		t.Accumulate(product.sums, tile.Dot(x, gates.Wide(p, product.weights)))
	}
	t.When(k.Last(), func() {
		scaled := func(name string, sums *tile.Ref) tile.Value { return gates.Scaled(t, p, name, sums, j, s.N) }
		t.Store(o, gates.Joined(p, scaled("gate", gated), scaled("up", acc)))
	})
	return t.Programs()
}
