// Package shards has what kernels of several devices share: which block shapes divide a
// problem, how devices wait for their neighbours, and how arrays are cut and put together.
package shards

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Divides returns why blocks of s do not divide the parts of a device, or nil: copies bring
// whole blocks.
func Divides(p problem.Sharded, s tile.Blocks, rows, depth int) error {
	for _, d := range []struct {
		name        string
		size, block int
	}{{"bm", rows, s.M}, {"bk", depth, s.K}, {"bn", p.Local("b")[1], s.N}} {
		if d.block < 1 || d.size%d.block != 0 {
			return fmt.Errorf("%s = %d: copies bring whole blocks: take one that divides %d", d.name, d.block, d.size)
		}
	}
	return nil
}

// Alone returns why p is not for one device, or nil.
func Alone(p problem.Sharded) error {
	if p.Devices != 1 {
		return fmt.Errorf("%d devices: this kernel is for one", p.Devices)
	}
	return p.Validate()
}

// Takes returns what says why a problem is not for a kernel of one way on several devices.
func Takes(way problem.Way) func(problem.Sharded) error {
	return func(p problem.Sharded) error {
		if err := p.Validate(); err != nil {
			return err
		}
		if p.Way != way {
			return fmt.Errorf("the product is divided to %s, this kernel is for those to %s", p.Way, way)
		}
		if p.Devices < 2 {
			return fmt.Errorf("%d device: the kernel sends to neighbours, take 2 at least", p.Devices)
		}
		return nil
	}
}

// OfDevice are Candidates for all rows that a device has.
func OfDevice(p problem.Sharded, _ problem.Machine) []tile.Blocks {
	return Candidates(p, p.M/p.Devices)
}

// Candidates are blocks that divide the parts of a device.
func Candidates(p problem.Sharded, rows int) []tile.Blocks {
	var list []tile.Blocks
	columns := p.Local("b")[1]
	for _, n := range []int{512, 256, 128} {
		list = append(list, tile.Blocks{M: divisor(rows, n), K: p.Local("b")[0], N: divisor(columns, n)})
	}
	return tile.Candidates(p.M, p.K, p.N, list...)
}

// divisor is the largest number up to at most that divides n.
func divisor(n, most int) int {
	for d := min(n, most); d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 1
}

// Neighbour is the coordinate of the device that is so many further along x, which is a ring.
func Neighbour(x *tile.Axis, further int) tile.IndexExpr {
	return tile.Mod(tile.Plus(x, tile.Const(further)), x.Size)
}

// Meet lets a device go on when both its neighbours along x have begun, so that their memory
// is there to be written.
func Meet(t *tile.Builder, x *tile.Axis) {
	began := t.Barrier("began")
	t.Signal(began.At(tile.Const(0)), x, Neighbour(x, -1))
	t.Signal(began.At(tile.Const(0)), x, Neighbour(x, 1))
	t.Await(began.At(tile.Const(0)), 2)
}

// Cut divides an operand of a problem over its devices.
func Cut(p problem.Sharded, name string, whole tile.Tensor) []tile.Tensor {
	parts := make([]tile.Tensor, p.Devices)
	for d := range parts {
		parts[d] = tile.NewTensor(whole.Dtype, p.Local(name)...)
		each(p, name, d, whole, func(part, at int) { parts[d].Set(part, whole.At(at)) })
	}
	return parts
}

// Join puts the parts of an operand together.
func Join(p problem.Sharded, name string, parts []tile.Tensor) tile.Tensor {
	var whole tile.Tensor
	for _, o := range p.Operands() {
		if o.Name == name {
			whole = tile.NewTensor(o.Dtype, o.Shape...)
		}
	}
	for d := range parts {
		each(p, name, d, whole, func(part, at int) { whole.Set(at, parts[d].At(part)) })
	}
	return whole
}

// each calls f with the place of every element of a device's part, in it and in the whole.
func each(p problem.Sharded, name string, device int, whole tile.Tensor, f func(part, at int)) {
	local := p.Local(name)
	for i := range local[0] {
		for j := range local[1] {
			row, column := i, j
			if p.Split(name) == 0 {
				row += device * local[0]
			} else {
				column += device * local[1]
			}
			f(i*local[1]+j, row*whole.Shape[1]+column)
		}
	}
}

// MeetAll lets a device go on when all others along x have begun.
func MeetAll(t *tile.Builder, x *tile.Axis) {
	began := t.Barrier("began")
	for n := 1; n < x.Size; n++ {
		t.Signal(began.At(tile.Const(0)), x, Neighbour(x, n))
	}
	t.Await(began.At(tile.Const(0)), x.Size-1)
}
