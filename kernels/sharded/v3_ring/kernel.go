// Package ring is the third rung of sharded products: multiply the rows of a that are here
// while they go on to the next device and others come.
package ring

import (
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
)

// Kernel sends the rows that it multiplies around a ring.
var Kernel = problem.Rung[problem.Sharded]{
	Number: 3, Name: "v3_ring",
	Supports: shards.Takes(problem.Gather), Blocks: shards.OfDevice, Build: build,
}

// build writes the program that every device runs.
func build(p problem.Sharded, _ string, s tile.Blocks) ([]*tile.Program, error) {
	rows, columns := p.M/p.Devices, p.N/p.Devices
	if err := shards.Divides(p, s, rows, s.K); err != nil {
		return nil, err
	}
	t := tile.New("v3_ring")
	x := t.MeshAxis("x", p.Devices)
	step := t.Axis("s", p.Devices, tile.Arbitrary)
	i := t.Axis("i", rows/s.M, tile.Arbitrary)
	j := t.Axis("j", columns/s.N, tile.Arbitrary)

	from := tile.Mod(tile.Plus(x, tile.Times(step, -1)), p.Devices) // the device whose rows are here
	zero := tile.Const(0)
	a := t.In("a", p.Dtype, tile.Array(rows, p.K), tile.HBM)
	b := t.In("b", p.Dtype, tile.Array(p.K, columns), tile.Block(p.K, s.N).At(zero, j))
	o := t.Out("o", p.Dtype, tile.Array(p.M, columns), tile.Block(s.M, s.N).At(tile.Plus(tile.Times(from, i.Size), i), j))
	all := t.MainScratch("all", p.Dtype, p.M, p.K)
	panel := t.Scratch("panel", p.Dtype, 2*s.M, p.K)
	here := t.Semaphores("here", 2)
	came, sent := t.Semaphores("came", p.Devices), t.Semaphores("sent", p.Devices)

	chunk := func(d tile.IndexExpr) tile.Part { return all.Part(tile.Block(rows, p.K).At(d, zero)) }
	mine := a.Part(tile.Block(rows, p.K).At(zero, zero))
	send := func(rows tile.Part) *tile.Copy {
		return tile.NewCopy(rows, chunk(from), came.At(step)).ToDevice(x, shards.Neighbour(x, 1), sent.At(step))
	}
	bring := func(i tile.IndexExpr, first bool) *tile.Copy { // some of the rows of this step to fast memory
		source := all.Part(tile.Block(s.M, p.K).At(tile.Plus(tile.Times(from, rows/s.M), i), zero))
		if first {
			source = a.Part(tile.Block(s.M, p.K).At(i, zero))
		}
		slot := tile.Mod(i, 2)
		return tile.NewCopy(source, panel.Part(tile.Block(s.M, p.K).At(slot, zero)), here.At(slot))
	}
	start := func(i tile.IndexExpr) {
		t.When(step.First(), func() { t.Start(bring(i, true)) })
		t.When(tile.Not(step.First()), func() { t.Start(bring(i, false)) })
	}

	t.When(tile.All(i.First(), j.First()), func() {
		t.When(step.First(), func() {
			shards.Meet(t, x)
			t.Start(send(mine))
		})
		t.When(tile.Not(step.First()), func() {
			t.Wait(tile.NewCopy(chunk(from), chunk(from), came.At(tile.Plus(step, tile.Const(-1)))))
			t.When(tile.Not(step.Last()), func() { t.Start(send(chunk(from))) })
		})
		start(zero)
	})
	t.When(j.First(), func() {
		next := tile.Plus(i, tile.Const(1))
		t.When(tile.Not(i.Last()), func() { start(next) })
		t.Wait(bring(i, false))
	})
	t.Store(o, tile.Cast(tile.Dot(tile.Slice(panel, 0, tile.Times(tile.Mod(i, 2), s.M), s.M), b), p.Dtype))
	t.When(tile.All(tile.Not(step.Last()), i.Last(), j.Last()), func() {
		t.When(step.First(), func() { t.WaitSent(send(mine)) })
		t.When(tile.Not(step.First()), func() { t.WaitSent(send(chunk(from))) })
	})
	return t.Programs()
}
