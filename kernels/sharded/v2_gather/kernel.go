// Package gather is the second rung of sharded products: bring all of a to every device,
// then multiply.
package gather

import (
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
)

// Kernel gathers a along the ring of devices before it multiplies.
var Kernel = problem.Rung[problem.Sharded]{
	Number: 2, Name: "v2_gather",
	Supports: shards.Takes(problem.Gather), Blocks: shards.OfDevice, Build: build,
}

// build writes the program that every device runs.
func build(p problem.Sharded, _ string, s tile.Blocks) ([]*tile.Program, error) {
	rows, columns := p.M/p.Devices, p.N/p.Devices
	if err := shards.Divides(p, s, rows, s.K); err != nil {
		return nil, err
	}
	t := tile.New("v2_gather")
	x := t.MeshAxis("x", p.Devices)
	i := t.Axis("i", p.M/s.M, tile.Arbitrary)
	j := t.Axis("j", columns/s.N, tile.Arbitrary)

	a := t.In("a", p.Dtype, tile.Array(rows, p.K), tile.HBM)
	b := t.In("b", p.Dtype, tile.Array(p.K, columns), tile.Block(p.K, s.N).At(tile.Const(0), j))
	o := t.Out("o", p.Dtype, tile.Array(p.M, columns), tile.Block(s.M, s.N).At(i, j))
	all := t.MainScratch("all", p.Dtype, p.M, p.K)
	panel := t.Scratch("panel", p.Dtype, s.M, p.K)
	own, came := t.Semaphores("own", 1), t.Semaphores("came", p.Devices-1)
	sent := t.Semaphores("sent", p.Devices-1)
	zero := tile.Const(0)
	chunk := func(d tile.IndexExpr) tile.Part { // the rows of all that are of a device
		return all.Part(tile.Block(rows, p.K).At(tile.Mod(d, p.Devices), zero))
	}

	t.When(tile.All(i.First(), j.First()), func() {
		shards.Meet(t, x)
		mine := tile.NewCopy(a.Part(tile.Block(rows, p.K).At(zero, zero)), chunk(x), own.At(zero))
		t.Start(mine)
		t.Wait(mine)
		t.Loop("s", p.Devices-1, func(s *tile.Axis) { // what came last goes on
			last := chunk(tile.Plus(x, tile.Times(s, -1)))
			next := chunk(tile.Plus(x, tile.Plus(tile.Times(s, -1), tile.Const(-1))))
			on := tile.NewCopy(last, last, came.At(s)).ToDevice(x, shards.Neighbour(x, 1), sent.At(s))
			t.Start(on)
			t.Wait(tile.NewCopy(next, next, came.At(s)))
			t.WaitSent(on)
		})
	})
	t.When(j.First(), func() {
		bring := tile.NewCopy(all.Part(tile.Block(s.M, p.K).At(i, zero)), panel.Part(tile.Block(s.M, p.K).At(zero, zero)), own.At(zero))
		t.Start(bring)
		t.Wait(bring)
	})
	t.Store(o, tile.Cast(tile.Dot(panel, b), p.Dtype))
	return t.Programs()
}
