package workshop

import (
	"context"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex2"
	yours "matladder/workshop/exercises/ex2"
	solved "matladder/workshop/solutions/ex2"
)

var orderLoops = exerciseOf[order](declares{"Build": {yours.Build, blank.Build, solved.Build}})

type order struct{ Build builder }

func (e order) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		p problem.Matmul
		s tile.Blocks
	}{
		{problem.New(32, 64, 256, tile.Float32), tile.Blocks{M: 8, K: 64, N: 64}},
		{problem.New(30, 40, 250, tile.Float32), tile.Blocks{M: 8, K: 40, N: 64}},
	} {
		v2, err := counters(ctx, "v2", c.p, c.s)
		if err != nil {
			return err
		}
		programs, err := e.Build(c.p, c.s)
		t, ok := r.counted(ctx, c.p, programs, err, on(c.p, c.s), "Each program is one product of a panel of a and a panel of b.")
		if !ok {
			return nil
		}
		r.atMost("grid steps", t.GridSteps, v2.GridSteps, whole, "v2 has that many.")
		r.atMost("bytes of b moved again", reread(t, "b"), reread(v2, "b")/2, traverse.Bytes, "A panel of b is brought in again whenever j changes and comes back.")
		r.atMost("bytes moved", t.BytesMoved(), v2.BytesMoved()/2, traverse.Bytes, "v2 moves twice the target.")
		r.atMost("fast memory", t.FastBytes, v2.FastBytes, traverse.FastMemory, "v2 takes that much.")
	}
	return nil
}

// reread are the bytes of the array of a name that are moved again.
func reread(t traverse.Totals, name string) int64 {
	var n int64
	for _, ref := range t.Refs {
		if ref.Ref.Name == name {
			n += ref.BytesReread
		}
	}
	return n
}
