package workshop

import (
	"context"
	"fmt"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex9"
	yours "matladder/workshop/exercises/ex9"
	solved "matladder/workshop/solutions/ex9"
)

var shareKeys = exerciseOf[decode](declares{"Build": {yours.Build, blank.Build, solved.Build}})

type decode struct {
	Build func(problem.Attention, tile.Blocks) ([]*tile.Program, error)
}

func (e decode) check(ctx context.Context, r *Report) error {
	for _, c := range []struct{ heads, group, keys, block int }{{2, 1, 64, 32}, {8, 4, 96, 32}, {12, 6, 128, 64}} {
		p := problem.Self(1, 16, tile.Float32)
		p.Keys, p.Heads, p.KVHeads = c.keys, c.heads, c.heads/c.group
		programs, err := e.Build(p, tile.Blocks{M: 1, K: c.block})
		label := fmt.Sprintf("%d heads, %d of which share %d keys", c.heads, c.group, c.keys)
		t, ok := r.counted(ctx, p, programs, err, label, "Which keys are those of the heads that a program takes?")
		if !ok {
			return nil
		}
		r.atMost("bytes moved", t.BytesMoved(), p.Bytes(), traverse.Bytes, "Each array once is that much.")
	}
	return nil
}
