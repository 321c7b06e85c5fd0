package blocking

import (
	"math"
	"slices"

	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// unitSide is the side of the matrix units' tiles: blocks are whole numbers of it.
const unitSide = 128

// rankPipeline lists the block shapes of p that take the least time on a core that brings blocks
// in while it computes, the best first: two that differ, and a third within some percent. It is
// nil where no shape that cuts the arrays evenly fits.
//
// Compilers take long for large blocks: of those within a fifth of a percent of the best the
// one that takes the least is first, and others beside a large one are small.
//
// Shapes that fit what the compiler grants come first if requesting more gains less
// than one percent.
func (m Model) rankPipeline(p problem.Problem, given tile.Blocks) []tile.Blocks {
	const most, within, gain, same = 3, 1.02, 1.01, 1.002
	x, ok := m.newPipeline(p)
	if !ok {
		return nil
	}
	all := x.fitting(true, given)
	if len(all) == 0 {
		return nil
	}
	if few := x.fitting(false, given); len(few) > 0 && x.seconds(few[0]) <= gain*x.seconds(all[0]) {
		all = few
	}
	first := all[0]
	for _, b := range all {
		if x.seconds(b) > same*x.seconds(all[0]) {
			break
		}
		if x.effort(b) < x.effort(first) {
			first = b
		}
	}
	list, written := []tile.Blocks{first}, x.effort(first)
	for _, b := range all {
		if len(list) == most || len(list) > 1 && x.seconds(b) > within*x.seconds(first) {
			break
		}
		if n := x.effort(b); (written+n <= longest || n <= short) && !slices.ContainsFunc(list, func(c tile.Blocks) bool { return alike(b, c) }) {
			list, written = append(list, b), written+n
		}
	}
	return list
}

// pipeline is what the time of a block shape follows from: a problem on a machine.
type pipeline struct {
	*machine.Pipeline
	vmem     model.VMEM
	p        problem.Matmul // one of the products of a step
	together int            // products of a step: of one block of A with blocks of as many B, each into sums of its own that become one block of o
	rate     float64
	rowsUnit int
	plain    bool // multiplies A and B as they are and nothing else
}

// newPipeline is false where nothing is known of the machine's core, or of how fast it computes p.
func (m Model) newPipeline(p problem.Problem) (*pipeline, bool) {
	x := &pipeline{Pipeline: m.VMEM.Core, vmem: m.VMEM, together: 1}
	switch p := p.(type) {
	case problem.Matmul:
		x.p = p
	case problem.MLP:
		x.p, x.together = p.Product(p.N), 2
		x.p.B = p.W
	default:
		return nil, false
	}
	if x.Pipeline == nil || m.FastBytes == 0 {
		return nil, false
	}
	a, _ := x.p.Factors()
	x.rate = x.Rates[a]
	x.plain = x.together == 1 && x.p.A == x.p.B && x.p.Quant == problem.NoQuant && len(x.p.Operands()) == 3
	x.rowsUnit = unitSide
	if align := m.Align[a][0]; x.p.M < unitSide && align > 0 {
		x.rowsUnit = align
	}
	return x, x.rate > 0
}

// fitting are the shapes that fit fast memory, the fastest first; may says that they may
// request more of it than the compiler grants.
func (x *pipeline) fitting(may bool, given tile.Blocks) []tile.Blocks {
	var list []tile.Blocks
	for _, bm := range cuts(x.p.M, x.rowsUnit) {
		for _, bn := range cuts(x.p.N, unitSide) {
			for _, bk := range cuts(x.p.K, unitSide) {
				b := tile.Blocks{M: bm, K: bk, N: bn}
				if matches(b, given) && x.products(b) <= largest && x.vmem.Fits(x.footprint(b), may) {
					list = append(list, b)
				}
			}
		}
	}
	byTime(list, x.seconds)
	return list
}

// largest bounds the products of a step, in those of a tile: the compiler writes each out.
// longest bounds the effort of all block shapes of a problem that are proposed, but for
// such as take hardly any.
const largest, longest, short = 1 << 12, 3 << 19, 1 << 17

// products is how many products of unitSide³ a step has.
func (x *pipeline) products(s tile.Blocks) int {
	return x.together * tile.Ceil(s.M, unitSide) * tile.Ceil(s.K, unitSide) * tile.Ceil(s.N, unitSide)
}

// effort is how long a compiler takes for a step, in no unit: libtpu takes three to five
// times as long for as many products that go into sums of eight times as many tiles.
func (x *pipeline) effort(s tile.Blocks) int {
	const beside = 128 // tiles of sums that take as long as the products themselves
	sums := x.together * tile.Ceil(s.M, unitSide) * tile.Ceil(s.N, unitSide)
	return x.products(s) * (beside + sums)
}

// cuts are lengths that cut n into equal parts of whole units, and n.
func cuts(n, unit int) []int {
	list := []int{n}
	for p := 2; n/p >= unit; p++ {
		if size := tile.Ceil(tile.Ceil(n, p), unit) * unit; size < n && !slices.Contains(list, size) && (n%size == 0 || n%unit != 0 && p <= 16) {
			list = append(list, size)
		}
	}
	return list
}

// blocksOf are the bytes of a block of a, of all b and of o.
func (x *pipeline) blocksOf(s tile.Blocks) (a, b, o float64) {
	bytes := func(d tile.Dtype, rows, cols int) float64 { return float64(d.Bytes(int64(rows) * int64(cols))) }
	return bytes(x.p.A, s.M, s.K), float64(x.together) * bytes(x.p.B, s.K, s.N), bytes(x.p.Out, s.M, s.N)
}

// tiled is a side of a block of b in whole tiles of the matrix units: units of 256 take as long
// for 128 columns as for 256.
func (x *pipeline) tiled(side int) float64 {
	if x.Unit == 0 {
		return float64(side)
	}
	return float64(tile.Ceil(side, x.Unit) * x.Unit)
}

// grid is how many blocks there are along m, k and n.
func (x *pipeline) grid(s tile.Blocks) (i, k, j float64) {
	return float64(tile.Ceil(x.p.M, s.M)), float64(tile.Ceil(x.p.K, s.K)), float64(tile.Ceil(x.p.N, s.N))
}

// footprint is what blocks and accumulators take, blocks that change twice, and the larger of
// A and one B.
func (x *pipeline) footprint(s tile.Blocks) model.Footprint {
	a, b, o := x.blocksOf(s)
	bs := float64(x.together)
	once := struct{ a, b int64 }{int64(a), int64(b / bs)}
	i, k, j := x.grid(s)
	for _, block := range []struct {
		bytes *float64
		times float64
	}{{&a, i * k}, {&b, k * j}, {&o, i * j}} {
		if block.times > 1 {
			*block.bytes *= 2
		}
	}
	array, first, _ := x.largest()
	f := model.Footprint{Bytes: int64(a + b + o), Largest: int64(array)}
	if x.plain {
		f.Product = s
	}
	if !x.plain || k > 1 {
		f.Bytes += int64(x.together) * x.p.Acc.Bytes(int64(s.M)*int64(s.N))
	}
	f.Without, f.Block = f.Bytes-int64(b/bs), once.b
	f.Dtype, f.Cut = x.p.B, s.N < x.p.N
	if first {
		f.Without, f.Block, f.Dtype, f.Cut = f.Bytes-int64(a), once.a, x.p.A, s.K < x.p.K
	}
	return f
}

// largest is how many bytes the larger of a and one b has, whether that is a, as it is of equals,
// and whether they are equal.
func (x *pipeline) largest() (bytes float64, first, even bool) {
	a, b, _ := x.blocksOf(tile.Blocks{M: x.p.M, K: x.p.K, N: x.p.N})
	b /= float64(x.together)
	return max(a, b) * float64(max(1, x.p.Batch)), a >= b, a == b
}

// seconds is the time of a launch but for what does not depend on blocks.
func (x *pipeline) seconds(s tile.Blocks) float64 {
	a, b, o := x.blocksOf(s)
	i, k, j := x.grid(s)
	steps := i * j * k * float64(max(1, x.p.Batch))
	moved := struct{ a, b, o float64 }{a * steps, b * steps, o * steps / k}
	if k == 1 { // a stays for all blocks of its rows, b if it is one
		moved.a /= j
		if j == 1 {
			moved.b = b
		}
	}
	first, between := a+b, 0.
	if _, _, prefetched := x.vmem.Request(x.footprint(s), true); prefetched {
		array, ofA, even := x.largest()
		if x.vmem.Prefetch.Apart && even { // as model.Prefetched has it
			ofA = moved.a >= moved.b/float64(x.together)
		}
		own, all, part := a, &moved.a, 1.
		if !ofA {
			part = 1 / float64(x.together)
			own, all = b*part, &moved.b
		}
		first = a + b - own
		if x.vmem.Prefetch.Apart { // from two memories at the same time
			first, between = max(first, own), *all*part
		}
		*all = *all*(1-part) + array
	}
	edges := first + o
	compute := float64(x.together) * (2*float64(s.M)*x.tiled(s.K)*x.tiled(s.N)/x.rate + x.Drain)
	cores := min(float64(max(1, x.Cores)), steps/k) // those of one block of sums share nothing
	return model.Launch(x.Pipeline, math.Ceil(steps/cores), compute, max(0, max(moved.a+moved.b+moved.o, between)-edges)/steps, edges).Seconds
}
