// This file chooses blocks for TPUs, by the step model, and what to ask the compiler for; the
// others choose for CPUs.

package blocking

import (
	"cmp"
	"math"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// unitSide is the side of the matrix units' tiles: blocks are whole numbers of it.
const unitSide = 128

// Pipelined lists the block shapes of p that take the least time on a machine that
// brings blocks in while it computes, the best first: two that differ, and a third within
// some percent. It is nil where the machine does not say how fast it does either, or no
// shape that cuts the arrays evenly fits. Together is how many products a step has, of one
// block of a with blocks of as many b, each into sums of its own that become one block of o;
// p is one of them.
//
// Compilers take long for large blocks: of those within a fifth of a percent of the best the
// one that takes the least is first, and others beside a large one are small.
//
// Shapes that fit what the compiler grants come first if asking for more gains less
// than one percent.
func Pipelined(p problem.Matmul, together int, m tile.Machine) []tile.Blocks {
	const most, within, gain, same = 3, 1.02, 1.01, 1.002
	x, ok := newPipeline(p, together, m)
	if !ok {
		return nil
	}
	all := x.fitting(true)
	if len(all) == 0 {
		return nil
	}
	if few := x.fitting(false); len(few) > 0 && x.seconds(few[0]) <= gain*x.seconds(all[0]) {
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
		if n := x.effort(b); (written+n <= longest || n <= short) && !slices.ContainsFunc(list, func(c tile.Blocks) bool { return near(b, c) }) {
			list, written = append(list, b), written+n
		}
	}
	return list
}

// AskFor is how many bytes of fast memory to ask the compiler for, for programs that need
// need: 0 where it grants enough. ahead says that the largest input comes ahead: it does where
// there is room for it beside what is asked for, which may be less than is granted.
func AskFor(need tile.Need, m tile.Machine) (ask int64, ahead bool) {
	granted, most := m.Granted, m.FastBytes/16*15
	if granted == 0 || granted > most {
		granted, most = m.FastBytes, m.FastBytes
	}
	beside := func(limit int64) bool { return m.Ahead.Holds(need.Largest, limit) }
	left := most - need.Largest
	if m.Ahead.Apart {
		left = most
	}
	switch {
	case beside(granted) && taken(need, m, true) <= granted:
		return 0, true
	case most > granted && beside(left) && taken(need, m, true) <= left:
		return left, true
	case taken(need, m, false) <= granted || most == granted:
		return 0, beside(granted)
	}
	return most, beside(most)
}

// taken is what programs take of fast memory, no less than what libtpu 0.0.51 says where its
// limit is too low: blocks and scratch, and of a product
//
//   - registers of a as the matrix units take them, all of a step's, unless each is met by all
//     columns at one time: two tiles of bfloat16 make one, and so do halves of what is widened;
//   - sums on their way, of as many columns as a row meets at one time;
//   - what it needs for itself, less than 2 MiB.
//
// An input that comes ahead is read where it lies, unless blocks end inside of its rows: these
// it copies. Of programs that do more than to multiply it is not known so well.
func taken(need tile.Need, m tile.Machine, ahead bool) int64 {
	const own = 2 << 20
	blocks, ahead := need.Bytes, ahead && !m.Ahead.Apart
	if ahead && !need.Cut {
		blocks = need.Without
	}
	s, wide := need.Product, int64(tile.BFloat16.Bits())
	if s == (tile.Blocks{}) || m.Pipeline == nil {
		blocks += blocks / 4
		if ahead {
			blocks += need.Block * max(1, wide/int64(need.Dtype.Bits()))
		}
		return blocks
	}
	var kept int64
	narrow := int64(need.Dtype.Bits()) < wide && m.Pipeline.Rates[need.Dtype] > m.Pipeline.Rates[tile.BFloat16]
	if int64(need.Dtype.Bits()) <= wide && !narrow && s.N != m.Pipeline.Pass {
		kept = tile.BFloat16.Bytes(int64(s.M) * int64(s.K))
	}
	return blocks + kept + tile.Float32.Bytes(int64(s.M)*int64(m.Pipeline.Pass)) + own
}

// pipeline is what the time of a block shape follows from: a problem on a machine.
type pipeline struct {
	*tile.Pipeline
	machine  tile.Machine
	p        problem.Matmul
	together int // products of a step
	a, b     tile.Dtype
	rate     float64
	rowsUnit int
	plain    bool // multiplies a and b as they are and nothing else
}

func newPipeline(p problem.Matmul, together int, m tile.Machine) (*pipeline, bool) {
	if m.Pipeline == nil || m.FastBytes == 0 {
		return nil, false
	}
	a, b := p.Factors()
	x := &pipeline{Pipeline: m.Pipeline, machine: m, p: p, together: together, a: a, b: b, rate: m.Pipeline.Rates[a]}
	x.plain = together == 1 && p.A == p.B && p.Quant == problem.NoQuant && len(p.Operands()) == 3
	x.rowsUnit = unitSide
	if align := m.Align[a][0]; p.M < unitSide && align > 0 {
		x.rowsUnit = align
	}
	return x, x.rate > 0
}

// fitting are the shapes that fit fast memory, the fastest first; asked says whether they
// may need more of it than the compiler grants.
func (x *pipeline) fitting(asked bool) []tile.Blocks {
	var list []tile.Blocks
	for _, bm := range cuts(x.p.M, x.rowsUnit) {
		for _, bn := range cuts(x.p.N, unitSide) {
			for _, bk := range cuts(x.p.K, unitSide) {
				b := tile.Blocks{M: bm, K: bk, N: bn}
				if x.fits(b, asked) && x.products(b) <= largest {
					list = append(list, b)
				}
			}
		}
	}
	times := map[tile.Blocks]float64{}
	for _, b := range list {
		times[b] = x.seconds(b)
	}
	slices.SortStableFunc(list, func(a, b tile.Blocks) int { return cmp.Compare(times[a], times[b]) })
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

// fits reports whether blocks fit fast memory.
func (x *pipeline) fits(s tile.Blocks, asked bool) bool {
	need := x.need(s)
	ask, ahead := AskFor(need, x.machine)
	limit := cmp.Or(ask, x.machine.Granted, x.machine.FastBytes)
	return (asked || ask == 0) && taken(need, x.machine, ahead) <= limit
}

// need is what blocks and accumulators take, blocks that change twice, and the larger of a
// and one b.
func (x *pipeline) need(s tile.Blocks) tile.Need {
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
	need := tile.Need{Bytes: int64(a + b + o), Largest: int64(array)}
	if x.plain {
		need.Product = s
	}
	if !x.plain || k > 1 {
		need.Bytes += int64(x.together) * x.p.Acc.Bytes(int64(s.M)*int64(s.N))
	}
	need.Without, need.Block = need.Bytes-int64(b/bs), once.b
	need.Dtype, need.Cut = x.p.B, s.N < x.p.N
	if first {
		need.Without, need.Block, need.Dtype, need.Cut = need.Bytes-int64(a), once.a, x.p.A, s.K < x.p.K
	}
	return need
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
	if _, ahead := AskFor(x.need(s), x.machine); ahead {
		array, ofA, even := x.largest()
		if x.machine.Ahead.Apart && even { // as analyze.Ahead has it
			ofA = moved.a >= moved.b/float64(x.together)
		}
		own, all, part := a, &moved.a, 1.
		if !ofA {
			part = 1 / float64(x.together)
			own, all = b*part, &moved.b
		}
		first = a + b - own
		if x.machine.Ahead.Apart { // from two memories at the same time
			first, between = max(first, own), *all*part
		}
		*all = *all*(1-part) + array
	}
	edges := first + o
	compute := float64(x.together) * (2*float64(s.M)*x.tiled(s.K)*x.tiled(s.N)/x.rate + x.Drain)
	move := max(0, max(moved.a+moved.b+moved.o, between)-edges) / steps / x.Memory
	longer, shorter := max(compute, move), min(compute, move)
	step := longer*math.Pow(1+math.Pow(shorter/longer, x.Overlap), 1/x.Overlap) + x.Step
	cores := min(float64(max(1, x.Cores)), steps/k) // those of one block of sums share nothing
	return math.Ceil(steps/cores)*step + edges/x.Memory
}
