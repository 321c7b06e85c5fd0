// Package experts is the sixth rung of sharded products: rows go from every device to every
// other, to the device that has the matrix of their expert, and their products come back.
package experts

import (
	"fmt"

	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
)

// Kernel sends all rows at once, its own it multiplies first, and each block of products
// goes back as soon as it is there.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 6 }

// Name is the folder's.
func (Kernel) Name() string { return "v6_experts" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Exchanged) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.Devices < 2 {
		return fmt.Errorf("%d device: the kernel sends to others, take 2 at least", p.Devices)
	}
	return nil
}

// Build writes the program that every device runs: blocks of M rows of one expert, all of k,
// and N columns.
func (k Kernel) Build(p problem.Exchanged, s tile.Blocks) ([]*tile.Program, error) {
	if err := k.Supports(p); err != nil {
		return nil, err
	}
	if s.M < 1 || p.Each.Capacity%s.M != 0 || s.N < 1 || p.N%s.N != 0 {
		return nil, fmt.Errorf("blocks %s: copies bring whole blocks: take bm that divides %d, the rows of an expert, and bn that divides %d", s, p.Each.Capacity, p.N)
	}
	t := tile.New("v6_experts")
	x := t.MeshAxis("x", p.Devices)
	each := p.Each.Capacity / s.M * p.Share() // blocks that a device sends to another
	i := t.Axis("i", p.Devices*each, tile.Arbitrary)
	j := t.Axis("j", p.N/s.N, tile.Arbitrary)

	zero, depth := tile.Const(0), p.Each.Dim
	expert := tile.FloorDiv(tile.Mod(i, each), p.Each.Capacity/s.M)
	rows := t.In("rows", p.Each.Dtype, tile.Array(p.Each.Rows(), depth), tile.HBM)
	w := t.In("w", p.Each.Dtype, tile.Array(p.Share(), depth, p.N), tile.Block(tile.Squeezed, depth, s.N).At(expert, zero, j))
	y := t.Out("y", p.Each.Dtype, tile.Array(p.Each.Rows(), p.N), tile.HBM)
	all := t.MainScratch("all", p.Each.Dtype, p.Each.Rows(), depth) // what came, by the device it is from
	panel, out := t.Scratch("panel", p.Each.Dtype, 2*s.M, depth), t.Scratch("out", p.Each.Dtype, s.M, s.N)
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	came, sent := t.Semaphores("came", p.Devices), t.Semaphores("sent", p.Devices)
	here, left, back := t.Semaphores("here", 2), t.Semaphores("left", 1), t.Semaphores("back", i.Size)

	// In step n of the devices, each works on the rows of the one that is n before it.
	chunk := tile.Block(each*s.M, depth)
	send := func(n int) *tile.Copy {
		to := shards.Neighbour(x, n)
		return tile.NewCopy(rows.Part(chunk.At(to, zero)), all.Part(chunk.At(x, zero)), came.At(tile.Const(n))).ToDevice(x, to, sent.At(tile.Const(n)))
	}
	block := func(of, i tile.IndexExpr) tile.IndexExpr { // the block of step i in the rows of or for a device
		return tile.Plus(tile.Times(of, each), tile.Mod(i, each))
	}
	from := func(i tile.IndexExpr, sign int) tile.IndexExpr {
		return tile.Mod(tile.Plus(x, tile.Times(tile.FloorDiv(i, each), sign)), p.Devices)
	}
	bring := func(i tile.IndexExpr, own bool) *tile.Copy {
		source := all
		if own {
			source = rows
		}
		slot, b := tile.Mod(i, 2), tile.Block(s.M, depth)
		return tile.NewCopy(source.Part(b.At(block(from(i, -1), i), zero)), panel.Part(b.At(slot, zero)), here.At(slot))
	}
	part, step := tile.Block(s.M, s.N), tile.Plus(tile.Times(i, j.Size), j)
	result := func(step tile.IndexExpr, remote bool) *tile.Copy { // takes a block of products where it belongs
		i := tile.FloorDiv(step, j.Size)
		c := tile.NewCopy(out.Part(part.At(zero, zero)), y.Part(part.At(block(x, i), tile.Mod(step, j.Size))), left.At(zero))
		if !remote {
			return c
		}
		c.Arrived = back.At(i)
		return c.ToDevice(x, from(i, -1), left.At(zero))
	}

	t.When(tile.All(i.First(), j.First()), func() {
		shards.MeetAll(t, x)
		for n := 1; n < p.Devices; n++ {
			t.Start(send(n))
		}
		t.Start(bring(zero, true))
	})
	t.When(j.First(), func() {
		next := tile.Plus(i, tile.Const(1))
		for n := 1; n < p.Devices; n++ {
			t.When(tile.Test(next, tile.EQ, tile.Const(n*each)), func() {
				there := all.Part(chunk.At(shards.Neighbour(x, -n), zero))
				t.Wait(tile.NewCopy(there, there, came.At(tile.Const(n))))
			})
		}
		t.When(tile.Test(next, tile.LT, tile.Const(each)), func() { t.Start(bring(next, true)) })
		t.When(tile.All(tile.Not(i.Last()), tile.Test(next, tile.GE, tile.Const(each))), func() { t.Start(bring(next, false)) })
		t.Wait(bring(i, false))
	})
	t.Store(acc, tile.Dot(tile.Slice(panel, 0, tile.Times(tile.Mod(i, 2), s.M), s.M), w))
	before, local := tile.Plus(step, tile.Const(-1)), tile.Const(each*j.Size)
	t.When(tile.All(tile.Test(before, tile.GE, zero), tile.Test(before, tile.LT, local)), func() { t.Wait(result(before, false)) })
	t.When(tile.Test(before, tile.GE, local), func() { t.WaitSent(result(before, true)) })
	t.Store(out, tile.Cast(acc, p.Each.Dtype))
	t.When(tile.Test(step, tile.LT, local), func() { t.Start(result(step, false)) })
	t.When(tile.Test(step, tile.GE, local), func() { t.Start(result(step, true)) })
	t.When(tile.All(i.Last(), j.Last()), func() {
		t.WaitSent(result(step, true))
		for n := 1; n < p.Devices; n++ {
			t.WaitSent(send(n))
		}
		t.Loop("r", (i.Size-each)*j.Size, func(r *tile.Axis) { // those of this device's rows
			step := tile.Plus(r, local)
			i := tile.FloorDiv(step, j.Size)
			there := y.Part(part.At(block(from(i, 1), i), tile.Mod(step, j.Size)))
			t.Wait(tile.NewCopy(there, there, back.At(i)))
		})
	})
	return t.Programs()
}
