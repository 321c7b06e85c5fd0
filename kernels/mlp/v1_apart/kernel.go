// Package apart is the first rung of mlp: three launches in one, as a framework runs them.
package apart

import (
	"errors"
	"slices"

	"matladder/kernels/mlp/gates"
	"matladder/problem"
	"matladder/tile"
)

// Kernel writes gate and up to memory, and joins what it reads from there.
var Kernel = problem.Rung[problem.MLP]{
	Number: 1, Name: "v1_apart", RequestsVMEM: true,
	Supports: problem.MLP.Validate, Blocks: blocks, Build: build,
}

// blocks has those shapes that take the least time on the machine for one of the products,
// or, of a machine that does not tell, a sweep.
func blocks(p problem.MLP, m problem.Machine) []tile.Blocks {
	product := p.Product(p.N)
	list := m.Cores.Rank(product, tile.Blocks{})
	if product.B = p.W; list == nil { // a pipeline moves weights as they are in memory
		list = m.Pipeline.Rank(product, tile.Blocks{})
	}
	if list == nil {
		list = []tile.Blocks{{M: 128, K: 128, N: 128}, {M: 256, K: 512, N: 256}, {M: 512, K: 512, N: 512}, {M: 512, K: 1024, N: 512}}
	}
	return problem.ClipAll(p, list...)
}

// build writes the kernel as three tile programs.
func build(p problem.MLP, _ string, s tile.Blocks) ([]*tile.Program, error) {
	all := tile.Array(p.Rows, p.N)
	product := func(name string) ([]*tile.Program, error) {
		t := tile.New("v1_" + name)
		i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
		j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
		k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
		x := t.In("x", p.X, tile.Array(p.Rows, p.K), tile.Block(s.M, s.K).At(i, k))
		w := t.In(name, p.W, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
		o := t.Out(name+"_sums", p.X, all, tile.Block(s.M, s.N).At(i, j))
		acc := t.Scratch("acc", tile.Float32, s.M, s.N)
		t.When(k.First(), func() { t.Fill(acc, 0) })
		t.Accumulate(acc, tile.Dot(x, gates.Wide(p, w)))
		t.When(k.Last(), func() { t.Store(o, tile.Cast(gates.Scaled(t, p, name, acc, j, s.N), p.X)) })
		return t.Programs()
	}
	gate, err1 := product("gate")
	up, err2 := product("up")

	t := tile.New("v1_join")
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	block := tile.Block(s.M, s.N).At(i, j)
	sums := func(name string) *tile.Expr { return tile.Cast(t.In(name, p.X, all, block), tile.Float32) }
	t.Store(t.Out("o", p.X, all, block), gates.Joined(p, sums("gate_sums"), sums("up_sums")))
	joined, err3 := t.Programs()
	return slices.Concat(gate, up, joined), errors.Join(err1, err2, err3)
}
