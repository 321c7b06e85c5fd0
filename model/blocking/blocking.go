// Package blocking ranks block shapes by models of the time that each takes: what kernels may
// know of a machine (problem.Machine) comes from here.
//
//	device, how a compiler is set up ─► Of ─► Model ─► the shapes that a kernel asks for, the fastest first
//
// For cores with caches a model rests on figures that the machine gives of itself (machine.Cores):
// products are cut, timed (cores.go, packing.go) and played through by workers on a grid (grid.go);
// attention has a model of its own (attention.go). For cores that bring blocks into fast memory
// while they compute (machine.Pipeline) it is the step model of docs/prediction.md, with products
// at the peak (pipeline.go). For GPUs there is no more than an order (registers.go).
package blocking

import (
	"cmp"
	"slices"

	"matladder/internal/each"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// Setup is how a compiler for a device is set up.
type Setup struct {
	VMEMBytes int64 // fast memory of a program, which may request no more: a user's vmem_limit; 0 for the device's
	Prefetch  bool  // the largest input may be prefetched
	PackedB   bool  // the second operand of products is packed ahead of launches
}

// Model is what is known of a device, as a compiler is set up for it.
type Model struct {
	problem.Machine // what kernels may know
	VMEM            model.VMEM
	cores           *cores // nil where it has none with caches, or they are unknown
}

// Of makes the model of a device.
func Of(d machine.Device, s Setup) Model {
	var m Model
	m.FastBytes, m.Parallel, m.Align = int64(d.FastBytes.Value), max(1, d.Parallel), map[tile.Dtype][2]int{}
	for name, align := range d.Align {
		if dtype, err := tile.ParseDtype(name); err == nil {
			m.Align[dtype] = align
		}
	}
	switch d.Kind {
	case machine.TPU:
		m.VMEM.Granted = int64(d.FastDefaultBytes.Value)
		m.VMEM.Core, _ = d.Pipeline()
	case machine.GPU:
		m.Registers = rankRegisters
	}
	if s.VMEMBytes > 0 {
		m.FastBytes, m.VMEM.Granted = s.VMEMBytes, s.VMEMBytes
	}
	if s.Prefetch {
		m.VMEM.Prefetch = d.Prefetch()
	}
	m.VMEM.Bytes = m.FastBytes
	if m.VMEM.Core != nil {
		m.Pipeline = m.rankPipeline
	}
	if d.Blocking != nil {
		m.cores = &cores{d.Blocking, m.Parallel, s.PackedB}
		m.Cores = m.cores.rank
	}
	return m
}

// Seconds is the time of a launch of p with blocks s by the model; 0 where none is known.
func (m Model) Seconds(p problem.Matmul, s tile.Blocks) float64 {
	if x, ok := m.newPipeline(p); ok {
		return x.seconds(s)
	}
	if m.cores != nil {
		if x, ok := m.cores.product(p); ok {
			return x.seconds(s)
		}
	}
	return 0
}

// byTime sorts shapes, those first that take the least time, and returns the times.
func byTime(list []tile.Blocks, seconds func(tile.Blocks) float64) map[tile.Blocks]float64 {
	times := make(map[tile.Blocks]float64, len(list))
	for _, b := range list {
		times[b] = seconds(b)
	}
	slices.SortStableFunc(list, func(a, b tile.Blocks) int { return cmp.Compare(times[a], times[b]) })
	return times
}

// matches reports whether b has the sides that are given.
func matches(b, given tile.Blocks) bool {
	is := func(have, want int) bool { return want == 0 || have == want }
	return is(b.M, given.M) && is(b.K, given.K) && is(b.N, given.N)
}

// alike reports whether no side of b is much longer or shorter than that of c.
func alike(b, c tile.Blocks) bool {
	like := func(x, y int) bool { return 3*x > 2*y && 2*x < 3*y }
	return like(b.M, c.M) && like(b.K, c.K) && like(b.N, c.N)
}

// search lists the block shapes that are worth a look: the sides of c cut into equal parts, and
// k whole or cut into equal parts of some hundreds.
func (x *product) search(given tile.Blocks) []tile.Blocks {
	var list []tile.Blocks
	for _, bm := range parts(x.m, x.rate.Rows, x.rate.Rows, 4*x.workers) {
		for _, bn := range parts(x.n, x.rate.Columns, x.rate.Few, 8*x.workers) {
			for _, bk := range x.depths() {
				if b := (tile.Blocks{M: bm, K: bk, N: bn}); matches(b, given) {
					list = append(list, b)
				}
			}
		}
	}
	return list
}

// parts are lengths that cut n into 1, 2, 3 … most parts as equal as can be: each rounded up to
// whole units, and as it is where it has few rows or columns beyond whole units. Of many units
// the latter would save next to nothing.
func parts(n, unit, few, most int) []int {
	const many = 16
	var list []int
	add := func(size int) { list = each.With(list, size) }
	for p := 1; p <= most; p++ {
		size := tile.Ceil(n, p)
		add(min(n, tile.Ceil(size, unit)*unit))
		if size > unit && size < many*unit && size%unit <= few {
			add(size)
		}
		if p > 8 {
			p += p / 4
		}
	}
	return list
}

// depths are lengths along k.
func (x *product) depths() []int {
	const least = 512
	list := []int{x.k}
	for p := 2; x.k/p >= least; p *= 2 {
		list = append(list, tile.Ceil(tile.Ceil(x.k, p), 64)*64)
	}
	return list
}
