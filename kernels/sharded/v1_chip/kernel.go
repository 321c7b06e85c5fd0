// Package chip is the first rung of sharded products, on one device: the fifth rung of
// matmul, but it brings its blocks itself, two steps ahead, into three buffers.
package chip

import (
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
)

// Kernel copies blocks of a and b while it multiplies those before.
var Kernel = problem.Rung[problem.Sharded]{
	Number: 1, Name: "v1_chip",
	Supports: shards.Alone, Blocks: shards.OfDevice, Build: build,
}

const buffers = 3 // blocks of an array in fast memory: the one at work and those that come

// build writes the kernel as a tile program.
func build(p problem.Sharded, _ string, s tile.Blocks) ([]*tile.Program, error) {
	if err := shards.Divides(p, s, p.M, p.K); err != nil {
		return nil, err
	}
	t := tile.New("v1_chip")
	i := t.Axis("i", p.M/s.M, tile.Parallel)
	j := t.Axis("j", p.N/s.N, tile.Arbitrary)
	k := t.Axis("k", p.K/s.K, tile.Arbitrary)
	a := t.In("a", p.Dtype, tile.Array(p.M, p.K), tile.HBM)
	b := t.In("b", p.Dtype, tile.Array(p.K, p.N), tile.HBM)
	o := t.Out("o", p.Dtype, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	aHere, bHere := t.Scratch("a_here", p.Dtype, buffers*s.M, s.K), t.Scratch("b_here", p.Dtype, buffers*s.K, s.N)
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	aCame, bCame := t.Semaphores("a_came", buffers), t.Semaphores("b_came", buffers)

	steps, step, zero := j.Size*k.Size, tile.Plus(tile.Times(j, k.Size), k), tile.Const(0)
	copies := func(step tile.IndexExpr) (ofA, ofB *tile.Copy) { // those that bring the blocks of a step
		slot, j, k := tile.Mod(step, buffers), tile.FloorDiv(step, k.Size), tile.Mod(step, k.Size)
		return tile.NewCopy(a.Part(tile.Block(s.M, s.K).At(i, k)), aHere.Part(tile.Block(s.M, s.K).At(slot, zero)), aCame.At(slot)),
			tile.NewCopy(b.Part(tile.Block(s.K, s.N).At(k, j)), bHere.Part(tile.Block(s.K, s.N).At(slot, zero)), bCame.At(slot))
	}
	start := func(step tile.IndexExpr) {
		ofA, ofB := copies(step)
		t.Start(ofA)
		t.Start(ofB)
	}
	t.When(tile.Test(step, tile.EQ, zero), func() {
		for n := range min(buffers-1, steps) {
			start(tile.Const(n))
		}
	})
	ahead := tile.Plus(step, tile.Const(buffers-1))
	t.When(tile.Test(ahead, tile.LT, tile.Const(steps)), func() { start(ahead) })
	ofA, ofB := copies(step)
	t.Wait(ofA)
	t.Wait(ofB)
	slot := tile.Mod(step, buffers)
	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(tile.Slice(aHere, 0, tile.Times(slot, s.M), s.M), tile.Slice(bHere, 0, tile.Times(slot, s.K), s.K)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Dtype)) })
	return t.Programs()
}
