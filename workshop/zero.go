package workshop

import (
	"context"
	"fmt"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex3"
	yours "matladder/workshop/exercises/ex3"
	solved "matladder/workshop/solutions/ex3"
)

var zeroAccumulator = exerciseOf[zero](declares{"Build": {yours.Build, blank.Build, solved.Build}, "Never": {yours.Never, blank.Never, solved.Never}, "AtTheLast": {yours.AtTheLast, blank.AtTheLast, solved.AtTheLast}, "AtEvery": {yours.AtEvery, blank.AtEvery, solved.AtEvery}, "OneBlock": {yours.OneBlock, blank.OneBlock, solved.OneBlock}})

// catcher is the check that finds a mistake.
type catcher string

const (
	byVerify      catcher = "verify"      // package tile, before anything runs
	byInterpreter catcher = "interpreter" // while it runs
	byReference   catcher = "reference"   // the result
	byNothing     catcher = "nothing"
)

type zero struct {
	Build                               builder
	Never, AtTheLast, AtEvery, OneBlock string
}

func (z zero) check(ctx context.Context, r *Report) error {
	p, s := problem.New(40, 72, 56, tile.Float32), tile.Blocks{M: 16, K: 24, N: 16}
	programs, err := z.Build(p, s)
	if t, ok := r.counted(ctx, p, programs, err, on(p, s), "If it is zeroed again at every step along k, only the product of the last is left."); ok {
		v3, err := counters(ctx, "v4", p, s)
		if err != nil {
			return err
		}
		r.atMost("grid steps", t.GridSteps, v3.GridSteps, whole, "v3 has that many.")
		r.atMost("bytes moved", t.BytesMoved(), v3.BytesMoved(), traverse.Bytes, "v3 moves that much.")
		r.atMost("fast memory", t.FastBytes, v3.FastBytes, traverse.FastMemory, "v3 takes that much.")
	}
	whole := tile.Blocks{M: 16, K: p.K, N: 16}
	for _, q := range []struct {
		name, answer string
		s            tile.Blocks
		zeroAt       func(k *tile.Axis) tile.Cond
		nudge        string
	}{
		{"Never", z.Never, s, nowhere, tryIt},
		{"AtTheLast", z.AtTheLast, s, (*tile.Axis).Last, tryIt},
		{"AtEvery", z.AtEvery, s, everyStep, tryIt},
		{"OneBlock", z.OneBlock, whole, everyStep, "If k is one block, how many steps along k are there, and which of them is the first?"},
	} {
		truth := zeroing(ctx, p, q.s, q.zeroAt)
		r.expect(q.answer == string(truth),
			fmt.Sprintf("%s: %s", q.name, q.answer),
			fmt.Sprintf("%s: your answer is %q. %s", q.name, q.answer, q.nudge))
	}
	return nil
}

const tryIt = "Make that mistake in Build, check, and read the first line: did tile refuse the program, or was the result wrong?"

func nowhere(k *tile.Axis) tile.Cond   { return tile.Test(k, tile.LT, tile.Const(0)) }
func everyStep(k *tile.Axis) tile.Cond { return tile.Test(k, tile.GE, tile.Const(0)) }

// zeroing says which check finds v3 with its output zeroed where a condition holds.
func zeroing(ctx context.Context, p problem.Matmul, s tile.Blocks, zeroAt func(*tile.Axis) tile.Cond) catcher {
	t := tile.New("zeroing")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	t.When(zeroAt(k), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(a, b))
	programs, err := t.Programs()
	if err != nil {
		return byVerify
	}
	return run(ctx, p, programs).caught
}
