// Package scatter is the fifth rung of sharded products: each device has a part of every
// sum, and sums go around the ring, growing, until they reach the device that keeps them.
package scatter

import (
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies and scatters the sums.
var Kernel = problem.Rung[problem.Sharded]{
	Number: 5, Name: "v5_scatter",
	Supports: shards.Takes(problem.Scatter), Blocks: shards.OfDevice, Build: build,
}

// build writes the program that every device runs.
func build(p problem.Sharded, _ string, s tile.Blocks) ([]*tile.Program, error) {
	rows, depth := p.M/p.Devices, p.K/p.Devices
	if err := shards.Divides(p, s, rows, s.K); err != nil {
		return nil, err
	}
	t := tile.New("v5_scatter")
	x := t.MeshAxis("x", p.Devices)
	step := t.Axis("s", p.Devices, tile.Arbitrary)
	i := t.Axis("i", rows/s.M, tile.Arbitrary)
	j := t.Axis("j", p.N/s.N, tile.Arbitrary)

	zero := tile.Const(0)
	whose := tile.Mod(tile.Plus(x, tile.Plus(tile.Times(step, -1), tile.Const(-1))), p.Devices) // the device that keeps these sums
	kept := func(at *tile.Axis) tile.IndexExpr {                                                // 0 before the last step, whose sums stay here
		return tile.AtLeast(tile.Plus(at, tile.Plus(tile.Times(step, at.Size), tile.Const(at.Size*(1-p.Devices)))), zero)
	}
	a := t.In("a", p.Dtype, tile.Array(p.M, depth), tile.Block(s.M, depth).At(tile.Plus(tile.Times(whose, i.Size), i), zero))
	b := t.In("b", p.Dtype, tile.Array(depth, p.N), tile.Block(depth, s.N).At(zero, j))
	o := t.Out("o", p.Dtype, tile.Array(rows, p.N), tile.Block(s.M, s.N).At(kept(i), kept(j)))
	sums := t.MainScratch("sums", tile.Float32, (p.Devices-1)*rows, p.N) // what comes in each step
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	out, in := t.Scratch("out", tile.Float32, s.M, s.N), t.Scratch("in", tile.Float32, s.M, s.N)
	came, sent, here := t.Semaphores("came", (p.Devices-1)*i.Size), t.Semaphores("sent", 1), t.Semaphores("here", 1)

	whole := tile.Block(s.M, s.N).At(zero, zero)
	number := tile.Plus(tile.Times(step, i.Size), i)
	row := tile.AtMost(number, tile.Const((p.Devices-1)*i.Size-1)) // of blocks of sums, and their counter
	send := tile.NewCopy(out.Part(whole), sums.Part(tile.Block(s.M, s.N).At(row, j)), came.At(row)).ToDevice(x, shards.Neighbour(x, 1), sent.At(zero))
	before := tile.Plus(number, tile.Const(-i.Size))
	bring := tile.NewCopy(sums.Part(tile.Block(s.M, s.N).At(before, j)), in.Part(whole), here.At(zero))

	t.When(tile.All(step.First(), i.First(), j.First()), func() { shards.Meet(t, x) })
	t.When(tile.Not(step.First()), func() {
		t.When(j.First(), func() {
			t.Loop("c", j.Size, func(c *tile.Axis) { // all blocks of a row, as they share a counter
				block := sums.Part(tile.Block(s.M, s.N).At(before, c))
				t.Wait(tile.NewCopy(block, block, came.At(before)))
			})
		})
		t.Start(bring)
	})
	t.Store(acc, tile.Dot(a, b))
	t.When(tile.Not(step.First()), func() {
		t.Wait(bring)
		t.Accumulate(acc, in)
	})
	t.When(tile.Not(tile.All(step.First(), i.First(), j.First())), func() {
		t.When(tile.Not(step.Last()), func() { t.WaitSent(send) })
	})
	t.When(tile.Not(step.Last()), func() {
		t.Store(out, acc)
		t.Start(send)
	})
	t.When(step.Last(), func() {
		t.When(tile.All(i.First(), j.First()), func() { t.WaitSent(send) })
		t.Store(o, tile.Cast(acc, p.Dtype))
	})
	return t.Programs()
}
