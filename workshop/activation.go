package workshop

import (
	"context"
	"fmt"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex1"
	yours "matladder/workshop/exercises/ex1"
	solved "matladder/workshop/solutions/ex1"
)

var fuseActivation = exerciseOf[activation](declares{"Build": {yours.Build, blank.Build, solved.Build}})

type activation struct {
	Build func(problem.Matmul) ([]*tile.Program, error)
}

func (e activation) check(ctx context.Context, r *Report) error {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.New(24, 40, 56, d)
		plain, err := counters(ctx, "v1", p, tile.Blocks{M: p.M, K: p.K, N: p.N})
		if err != nil {
			return err
		}
		p.Activation = problem.Relu
		programs, err := e.Build(p)
		t, ok := r.counted(ctx, p, programs, err, fmt.Sprintf("24x40x56, %s", d), "A negative element should have become 0.")
		if !ok {
			return nil
		}
		r.atMost("grid steps", t.GridSteps, plain.GridSteps, whole, "One program is enough.")
		r.atMost("bytes moved", t.BytesMoved(), plain.BytesMoved(), traverse.Bytes, "Without the activation it is that much: with it nothing more need move.")
	}
	return nil
}
