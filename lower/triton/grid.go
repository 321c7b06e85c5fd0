package triton

import (
	"math"

	"matladder/tile"
)

// split parts the axes of a grid into those whose programs may run at the same time and those
// that one program goes along: the Arbitrary ones behind the last Parallel axis. An Arbitrary
// axis in front of it carries nothing from one of its programs to the next: package tile has
// scratch undefined and outputs left for good where a Parallel coordinate changes.
func split(grid []*tile.Axis) (parallel, loops []*tile.Axis) {
	at := 0
	for i, a := range grid {
		if a.Semantics == tile.Parallel && a.Size > 1 {
			at = i + 1
		}
	}
	return grid[:at], grid[at:]
}

// programIDs gives each parallel axis its id and returns the number of programs.
// The last two axes of more than one program run in groups: Group of the outer
// go along all of the inner before the next ones begin, so that programs that run
// at the same time share blocks of both operands in the L2 cache.
func (k *kernel) programIDs(axes []*tile.Axis) int64 {
	var long []*tile.Axis
	programs := int64(1)
	for _, a := range axes {
		k.ids[a] = k.Int(0)
		if a.Size > 1 {
			long = append(long, a)
			programs *= int64(a.Size)
		}
	}
	if programs > math.MaxInt32 {
		k.Refuse("grid", "", "more programs than 31 bits count")
		return programs
	}
	if len(long) == 0 {
		return 1
	}
	rest := k.Pure(scalar, "tt.get_program_id", "x")
	// part takes the id along an axis of n off the end of rest.
	part := func(n int, last bool) value {
		if last {
			return rest
		}
		id := k.Scalar("arith.remsi", rest, k.Int(n))
		rest = k.Scalar("arith.divsi", rest, k.Int(n))
		return id
	}
	group := 1
	if len(long) > 1 {
		group = min(k.params.Group, long[len(long)-2].Size)
	}
	if group > 1 {
		i, j := long[len(long)-2], long[len(long)-1]
		long = long[:len(long)-2]
		k.grouped(i, j, group, part(i.Size*j.Size, len(long) == 0))
	}
	for len(long) > 0 {
		a := long[len(long)-1]
		long = long[:len(long)-1]
		k.ids[a] = part(a.Size, len(long) == 0)
	}
	return programs
}

// grouped gives axes i and j their ids out of one: i goes along a group first,
// then j, then the next group. The last group may have fewer i.
func (k *kernel) grouped(i, j *tile.Axis, group int, id value) {
	n := k.Int(group * j.Size)
	g := k.Scalar("arith.divsi", id, n)
	first := k.Scalar("arith.muli", g, k.Int(group))
	size := k.Int(group)
	if i.Size%group != 0 {
		size = k.Scalar("arith.minsi", k.Scalar("arith.subi", k.Int(i.Size), first), size)
	}
	in := k.Scalar("arith.remsi", id, n)
	k.ids[i] = k.Scalar("arith.addi", first, k.Scalar("arith.remsi", in, size))
	k.ids[j] = k.Scalar("arith.divsi", in, size)
}
