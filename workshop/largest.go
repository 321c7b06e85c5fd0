package workshop

import (
	"context"
	"fmt"

	"matladder/model"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex7"
	yours "matladder/workshop/exercises/ex7"
	solved "matladder/workshop/solutions/ex7"
)

var largestBlocks = exerciseOf[largest](declares{"Float32": {yours.Float32, blank.Float32, solved.Float32}, "BFloat16": {yours.BFloat16, blank.BFloat16, solved.BFloat16}})

type largest struct {
	Float32, BFloat16 func() tile.Blocks
}

// room is what blocks and scratch may take of the 16 MiB that a TPU kernel gets unless it asks
// for more. The rest is the compiler's, which spills registers into the same memory: how many no
// count of blocks tells. libtpu 0.0.51 adds up to a quarter of what v4 and v5 take, 2.4 MiB to
// the 16.0 of 1024x1024x1024 in bfloat16, and then refuses.
const room = 12 << 20

func (l largest) check(_ context.Context, r *Report) error {
	for _, g := range []guess{
		{"Float32", "v4", problem.New(4096, 4096, 4096, tile.Float32), l.Float32()},
		{"BFloat16", "v5", problem.New(4096, 4096, 4096, tile.BFloat16), l.BFloat16()},
	} {
		if s := g.blocks; min(s.M, s.K, s.N) < 128 || s.M%128+s.K%128+s.N%128 != 0 || max(s.M, s.K, s.N) > g.p.M {
			r.wrong("%s: blocks %s: each side is a multiple of 128, from 128 to 4096", g.name, s)
			continue
		}
		best, err := bestPowers(g.kernel, g.p)
		if err == nil {
			err = g.judge(r, best)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// guess is a block shape for a kernel and a problem.
type guess struct {
	name, kernel string
	p            problem.Matmul
	blocks       tile.Blocks
}

// judge holds a guess against the best blocks.
func (g guess) judge(r *Report, best model.Counts) error {
	c, err := counts(g.kernel, g.p, g.blocks)
	if err != nil {
		return err
	}
	r.atMost(fmt.Sprintf("%s %s: fast memory", g.name, g.blocks), c.FastBytes, room, traverse.FastMemory, "That leaves the compiler less than a quarter of the 16 MiB.")
	r.atMost(fmt.Sprintf("%s %s: bytes moved", g.name, g.blocks), c.BytesMoved, best.BytesMoved, traverse.Bytes, "Other blocks that there is room for move less: which sides are worth their memory?")
	r.atMost(fmt.Sprintf("%s %s: grid steps", g.name, g.blocks), c.GridSteps, best.GridSteps, whole, "There is room for a deeper bk.")
	return nil
}

// bestPowers are the counts of the blocks that there is room for, of sides that are powers of
// two, with the fewest bytes moved and then the fewest steps.
func bestPowers(kernel string, p problem.Matmul) (model.Counts, error) {
	var best model.Counts
	sides := []int{128, 256, 512, 1024, 2048, 4096}
	for _, m := range sides {
		for _, n := range sides {
			for _, k := range sides {
				c, err := counts(kernel, p, tile.Blocks{M: m, K: k, N: n})
				if err != nil {
					return best, err
				}
				less := c.BytesMoved < best.BytesMoved || c.BytesMoved == best.BytesMoved && c.GridSteps < best.GridSteps
				if c.FastBytes <= room && (best.GridSteps == 0 || less) {
					best = c
				}
			}
		}
	}
	return best, nil
}
