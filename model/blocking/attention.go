package blocking

import (
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// rankAttention lists shapes, those first that take the least time; none where the machine
// does not say how fast it multiplies.
func (c cores) rankAttention(p problem.Attention, given tile.Blocks) []tile.Blocks {
	if c.Rates[p.Dtype].FLOPs == 0 || c.Rates[tile.Float32].FLOPs == 0 {
		return nil
	}
	var list []tile.Blocks
	for _, rows := range []int{64, 128, 256, 512} {
		for _, keys := range []int{128, 256, 512, 1024} {
			if b := problem.Clip(p, tile.Blocks{M: rows, K: keys}); matches(b, given) && !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
	}
	times := byTime(list, func(b tile.Blocks) float64 { return c.attention(p, b) })
	const most, within = 3, 1.25 // the first may be wrong by some percent
	n := min(1, len(list))
	for n < min(most, len(list)) && times[list[n]] <= within*times[list[0]] {
		n++
	}
	return list[:n]
}

// vectorOperations is about how many of a vector of scores a softmax takes beside its
// products: to scale, the largest, 2^x by a polynomial, the sum, and rounding or packing.
const vectorOperations = 24

// turnOperations is how many of a vector of k it takes to turn it, counted as the CPU backend
// does it: two to load and widen it, two products and a sum, two to round and store it, and one
// to pack what was stored. A wrong count costs little: with 4 or 16 the model takes blocks that
// it says are 2 and 5 % slower with 8 at most (128 to 8192 keys, 1 to 32 heads of 64 and 128
// columns, both dtypes, full and causal, four cores of Zen 5).
const turnOperations = 8

// stripBytes is what scores take of the caches next to a core at once.
const stripBytes = 96 << 10

// attention is the time of a launch with blocks b by the model: of the keys that a block of
// rows sees some of, products and exponentials, since cores leave out what all of some rows
// hide; once for each block of scores what turning its keys takes where that is asked for,
// and once for each row of it what beginning another costs; tasks are blocks of rows, of
// which the last keeps others waiting.
func (c cores) attention(p problem.Attention, b tile.Blocks) float64 {
	rate, vector := c.Rates[p.Dtype], c.Rates[tile.Float32].FLOPs/2 // operations on one number
	score := 2*float64(p.Dim+p.ValueDim)/rate.FLOPs + vectorOperations/vector
	row := c.Task
	if moved := float64(b.K * (p.Dim + p.ValueDim) * p.Dtype.Bits() / 8); moved > float64(c.L2)/2 && rate.Fetch > 0 {
		row += moved / rate.Fetch / max(1, float64(stripBytes/(4*b.K))) // k and v come again for each strip
	}
	turned := 0.
	if p.Rope == problem.TurnedBoth {
		turned = float64(b.K*p.RopeOfKeys().Turned()) * turnOperations / vector
	}
	all, largest := 0., 0.
	for i := range tile.Ceil(p.Rows, b.M) {
		blocks, keys := tile.Ceil(p.Keys, b.K), p.Keys
		if !p.Lengths || !p.AtEnd {
			first, last := p.KeyBlocks(i, b)
			blocks = max(0, last-first+1)
			first, last = p.KeyBlocks(i, tile.Blocks{M: b.M, K: 1})
			keys = max(0, last-first+1)
		}
		task := float64(blocks)*turned + float64(b.M)*(float64(keys)*score+float64(blocks)*row)
		all, largest = all+task, max(largest, task)
	}
	workers := float64(c.workers)
	return float64(p.Batch*p.Heads)*all/workers + largest/2
}
