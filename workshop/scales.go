package workshop

import (
	"context"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex6"
	yours "matladder/workshop/exercises/ex6"
	solved "matladder/workshop/solutions/ex6"
)

var scaleChannels = exerciseOf[scaling](declares{"Build": {yours.Build, blank.Build, solved.Build}})

type scaling struct{ Build builder }

func (e scaling) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		m, k, n int
		s       tile.Blocks
	}{
		{32, 64, 48, tile.Blocks{M: 16, K: 32, N: 16}},
		{40, 72, 56, tile.Blocks{M: 16, K: 24, N: 16}},
	} {
		p := problem.Matmul{Batch: 1, M: c.m, K: c.k, N: c.n, A: tile.Int8, B: tile.Int8, Acc: tile.Int32, Out: tile.Float32, Quant: "per_channel"}
		v5, err := counters(ctx, "v5", p, c.s)
		if err != nil {
			return err
		}
		programs, err := e.Build(p, c.s)
		t, ok := r.counted(ctx, p, programs, err, on(p, c.s), "Which scale did that column take, and which is its own?")
		if !ok {
			return nil
		}
		r.atMost("grid steps", t.GridSteps, v5.GridSteps, whole, "v5 has that many.")
		r.atMost("bytes moved", t.BytesMoved(), v5.BytesMoved(), traverse.Bytes, "v5 moves that much: of sb only the columns of the block of o.")
		r.atMost("fast memory", t.FastBytes, v5.FastBytes, traverse.FastMemory, "v5 takes that much.")
	}
	return nil
}
