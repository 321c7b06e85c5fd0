// Package both is the fourth rung of sharded products: half the rows go one way around the
// ring and half the other, so that each link carries half the bytes.
package both

import (
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
)

// Kernel sends the rows that it multiplies around a ring in both directions.
var Kernel = problem.Rung[problem.Sharded]{
	Number: 4, Name: "v4_both",
	Supports: supports, Blocks: blocks, Build: build,
}

// supports returns why p is not for this kernel, or nil.
func supports(p problem.Sharded) error {
	if err := shards.Takes(problem.Gather)(p); err != nil {
		return err
	}
	p.Devices *= 2 // halves of what a device has
	return p.Validate()
}

// blocks are blocks that divide the parts of a device.
func blocks(p problem.Sharded, _ problem.Machine) []tile.Blocks {
	return shards.Candidates(p, p.M/p.Devices/2)
}

// build writes the program that every device runs.
func build(p problem.Sharded, _ string, s tile.Blocks) ([]*tile.Program, error) {
	half, columns := p.M/p.Devices/2, p.N/p.Devices
	if err := shards.Divides(p, s, half, s.K); err != nil {
		return nil, err
	}
	t := tile.New("v4_both")
	x := t.MeshAxis("x", p.Devices)
	step := t.Axis("s", p.Devices, tile.Arbitrary)
	way := t.Axis("way", 2, tile.Arbitrary)
	i := t.Axis("i", half/s.M, tile.Arbitrary)
	j := t.Axis("j", columns/s.N, tile.Arbitrary)

	// The half chunk that is here, of all: upper halves come from the left, lower from the right.
	zero := tile.Const(0)
	upper := tile.Times(tile.Mod(tile.Plus(x, tile.Times(step, -1)), p.Devices), 2)
	lower := tile.Plus(tile.Times(tile.Mod(tile.Plus(x, step), p.Devices), 2), tile.Const(1))
	far := 2 * p.Devices // more than either: the smaller of the two is the one of this way
	from := tile.AtMost(tile.Plus(upper, tile.Times(way, far)), tile.Plus(lower, tile.Plus(tile.Times(way, -far), tile.Const(far))))
	to := tile.Mod(tile.Plus(x, tile.Plus(tile.Times(way, -2), tile.Const(1))), p.Devices)
	slot := tile.Plus(tile.Times(step, 2), way)

	a := t.In("a", p.Dtype, tile.Array(2*half, p.K), tile.HBM)
	b := t.In("b", p.Dtype, tile.Array(p.K, columns), tile.Block(p.K, s.N).At(zero, j))
	o := t.Out("o", p.Dtype, tile.Array(p.M, columns), tile.Block(s.M, s.N).At(tile.Plus(tile.Times(from, i.Size), i), j))
	all := t.MainScratch("all", p.Dtype, p.M, p.K)
	panel := t.Scratch("panel", p.Dtype, 2*s.M, p.K)
	here := t.Semaphores("here", 2)
	came, sent := t.Semaphores("came", 2*p.Devices), t.Semaphores("sent", 2*p.Devices)

	chunk := all.Part(tile.Block(half, p.K).At(from, zero))
	mine := a.Part(tile.Block(half, p.K).At(way, zero))
	send := func(rows tile.Part) *tile.Copy {
		return tile.NewCopy(rows, chunk, came.At(slot)).ToDevice(x, to, sent.At(slot))
	}
	bring := func(i tile.IndexExpr, first bool) *tile.Copy {
		source := all.Part(tile.Block(s.M, p.K).At(tile.Plus(tile.Times(from, half/s.M), i), zero))
		if first {
			source = a.Part(tile.Block(s.M, p.K).At(tile.Plus(tile.Times(way, half/s.M), i), zero))
		}
		slot := tile.Mod(i, 2)
		return tile.NewCopy(source, panel.Part(tile.Block(s.M, p.K).At(slot, zero)), here.At(slot))
	}
	start := func(i tile.IndexExpr) {
		t.When(step.First(), func() { t.Start(bring(i, true)) })
		t.When(tile.Not(step.First()), func() { t.Start(bring(i, false)) })
	}

	t.When(tile.All(step.First(), way.First(), i.First(), j.First()), func() { shards.Meet(t, x) })
	t.When(tile.All(i.First(), j.First()), func() {
		t.When(step.First(), func() { t.Start(send(mine)) })
		t.When(tile.Not(step.First()), func() {
			t.Wait(tile.NewCopy(chunk, chunk, came.At(tile.Plus(slot, tile.Const(-2)))))
			t.When(tile.Not(step.Last()), func() { t.Start(send(chunk)) })
		})
		start(zero)
	})
	t.When(j.First(), func() {
		t.When(tile.Not(i.Last()), func() { start(tile.Plus(i, tile.Const(1))) })
		t.Wait(bring(i, false))
	})
	t.Store(o, tile.Cast(tile.Dot(tile.Slice(panel, 0, tile.Times(tile.Mod(i, 2), s.M), s.M), b), p.Dtype))
	t.When(tile.All(tile.Not(step.Last()), i.Last(), j.Last()), func() {
		t.When(step.First(), func() { t.WaitSent(send(mine)) })
		t.When(tile.Not(step.First()), func() { t.WaitSent(send(chunk)) })
	})
	return t.Programs()
}
