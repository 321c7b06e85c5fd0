package workshop

import (
	"context"
	"fmt"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex8"
	yours "matladder/workshop/exercises/ex8"
	solved "matladder/workshop/solutions/ex8"
)

var shrinkSums = exerciseOf[online](declares{"Build": {yours.Build, blank.Build, solved.Build}})

type online struct {
	Build func(problem.Attention, tile.Blocks) ([]*tile.Program, error)
}

func (e online) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		rows, keys int
		s          tile.Blocks
	}{
		{32, 96, tile.Blocks{M: 16, K: 96}},
		{32, 96, tile.Blocks{M: 16, K: 32}},
		{64, 256, tile.Blocks{M: 32, K: 32}},
	} {
		p := problem.Self(c.rows, 16, tile.Float32)
		p.Keys, p.Heads, p.KVHeads = c.keys, 2, 2
		programs, err := e.Build(p, c.s)
		label := fmt.Sprintf("%d rows, %d keys, blocks %dx%d", p.Rows, p.Keys, c.s.M, c.s.K)
		t, ok := r.counted(ctx, p, programs, err, label, "When a block has a larger score than those before, what becomes of what sum and acc hold?")
		if !ok {
			return nil
		}
		v3, err := counters(ctx, "v3_flash", p, c.s)
		if err != nil {
			return err
		}
		r.atMost("grid steps", t.GridSteps, v3.GridSteps, whole, "v3_flash has that many.")
		r.atMost("bytes moved", t.BytesMoved(), v3.BytesMoved(), traverse.Bytes, "v3_flash moves that much.")
		r.atMost("fast memory", t.FastBytes, v3.FastBytes, traverse.FastMemory, "v3_flash takes that much: scores of one block, not of a row.")
	}
	return nil
}
