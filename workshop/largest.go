package workshop

import (
	"context"
	"fmt"

	"matladder/analyze"
	"matladder/problem"
	"matladder/tile"
	"matladder/traverse"
	blank "matladder/workshop/blanks/ex7"
	yours "matladder/workshop/exercises/ex7"
	solved "matladder/workshop/solutions/ex7"
)

var largestBlocks = Exercise{
	Number: 7,
	Title:  "the largest blocks that fit 16 MiB",
	Name:   "largest.go",
	Hints: []string{
		"Bytes moved follow from bm and bn alone (exercise 4). So begin with those, and take for bk what is left.",
		"With bm = bn = 1024, the block of o takes 2·4 MiB in float32; the accumulator of v5 takes 4 MiB, its o another 2·2.",
		"Then halve bk from 1024 until it fits.",
	},
	Moral:    "Fast memory is what blocks are bought with: bm and bn first, which save bytes, then bk, which saves steps.",
	yours:    largest{yours.Float32, yours.BFloat16}.check,
	blank:    largest{blank.Float32, blank.BFloat16}.check,
	solution: largest{solved.Float32, solved.BFloat16}.check,
}

type largest struct {
	float32, bfloat16 func() tile.Blocks
}

// fastBytes is what a TPU kernel gets unless it asks for more.
const fastBytes = 16 << 20

func (l largest) check(_ context.Context, r *Report) {
	for _, q := range []struct {
		name, kernel string
		dtype        tile.Dtype
		blocks       tile.Blocks
	}{
		{"Float32", "v4", tile.Float32, l.float32()},
		{"BFloat16", "v5", tile.BFloat16, l.bfloat16()},
	} {
		s, p := q.blocks, problem.New(4096, 4096, 4096, q.dtype)
		if min(s.M, s.K, s.N) < 128 || s.M%128+s.K%128+s.N%128 != 0 || max(s.M, s.K, s.N) > p.M {
			r.wrong("%s: blocks %s: each side is a multiple of 128, from 128 to 4096", q.name, s)
			continue
		}
		c, err := counts(q.kernel, p, s)
		if err != nil {
			r.wrong("%v", err)
			return
		}
		best, err := bestPowers(q.kernel, p)
		if err != nil {
			r.wrong("%v", err)
			return
		}
		r.atMost(fmt.Sprintf("%s %s: fast memory", q.name, s), c.FastBytes, fastBytes, traverse.FastMemory, "It does not fit.")
		r.atMost(fmt.Sprintf("%s %s: bytes moved", q.name, s), c.BytesMoved, best.BytesMoved, traverse.Bytes, "Other blocks that fit move less: which sides are worth their memory?")
		r.atMost(fmt.Sprintf("%s %s: grid steps", q.name, s), c.GridSteps, 2*best.GridSteps, whole, "There is room for a deeper bk.")
	}
}

// bestPowers are the counts of the blocks that fit, of sides that are powers of
// two, with the fewest bytes moved and then the fewest steps.
func bestPowers(kernel string, p problem.Matmul) (analyze.Counts, error) {
	var best analyze.Counts
	sides := []int{128, 256, 512, 1024, 2048, 4096}
	for _, m := range sides {
		for _, n := range sides {
			for _, k := range sides {
				c, err := counts(kernel, p, tile.Blocks{M: m, K: k, N: n})
				if err != nil {
					return best, err
				}
				less := c.BytesMoved < best.BytesMoved || c.BytesMoved == best.BytesMoved && c.GridSteps < best.GridSteps
				if c.FastBytes <= fastBytes && (best.GridSteps == 0 || less) {
					best = c
				}
			}
		}
	}
	return best, nil
}
