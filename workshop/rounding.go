package workshop

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex5"
	yours "matladder/workshop/exercises/ex5"
	solved "matladder/workshop/solutions/ex5"
)

var roundOnce = exerciseOf[rounding](declares{"Roundings": {yours.Roundings, blank.Roundings, solved.Roundings}, "Build": {yours.Build, blank.Build, solved.Build}})

type rounding struct {
	Roundings func(k, bk int) int
	Build     builder
}

// lengths are the k for which errors are compared, and cubes the blocks.
var (
	lengths = []int{64, 256, 1024, 4096}
	cubes   = tile.Blocks{M: 16, K: 16, N: 16}
)

// narrow has the errors of v4, which adds in the output: they are the same for every learner.
var narrow = sync.OnceValues(func() (errs []float64, err error) {
	for _, k := range lengths {
		p := problem.New(16, k, 16, tile.BFloat16)
		programs, err := rung("v4", p, cubes)
		if err != nil {
			return nil, err
		}
		errs = append(errs, run(context.Background(), p, programs).result.RelErr)
	}
	return errs, nil
})

func (x rounding) check(ctx context.Context, r *Report) error {
	for _, c := range [][2]int{{4096, 16}, {1000, 128}, {64, 64}} {
		got, want := x.Roundings(c[0], c[1]), tile.Ceil(c[0], c[1])
		r.expect(got == want, fmt.Sprintf("Roundings(%d, %d) = %d", c[0], c[1], got),
			fmt.Sprintf("Roundings(%d, %d) is %d, should be %d: one for each step along k.", c[0], c[1], got, want))
	}
	s, once := cubes, tile.BFloat16.Epsilon()
	var table strings.Builder
	fmt.Fprintf(&table, "rel_err by k, blocks %s:\n     k  in the output  yours", s)
	small := true
	theirs, err := narrow()
	if err != nil {
		return err
	}
	for i, k := range lengths {
		p := problem.New(16, k, 16, tile.BFloat16)
		programs, err := x.Build(p, s)
		if !r.built(programs, err) || k == lengths[0] && !r.right(ctx, p, programs, on(p, s), "o is the product, rounded to bfloat16.") {
			return nil
		}
		yours := run(ctx, p, programs)
		if ctx.Err() != nil {
			return nil
		}
		if yours.caught != byNothing {
			return fmt.Errorf("result wrong on %s: %s", on(p, s), yours.detail)
		}
		fmt.Fprintf(&table, "\n%6d      %.4f     %.4f", k, theirs[i], yours.result.RelErr)
		small = small && yours.result.RelErr <= once
	}
	text := table.String()
	r.expect(small, text, fmt.Sprintf("%s\nIt grows with k. Rounded once, it stays below 2^-8 = %.4f.", text, once))
	return x.cost(ctx, r, s)
}

// cost holds the counters against v4's.
func (x rounding) cost(ctx context.Context, r *Report, s tile.Blocks) error {
	p := problem.New(32, 256, 48, tile.BFloat16)
	v4, err := counters(ctx, "v4", p, s)
	if err != nil {
		return err
	}
	programs, err := x.Build(p, s)
	if !r.built(programs, err) {
		return nil
	}
	if t, ok := r.totals(ctx, programs); ok {
		r.atMost("stores of blocks of o", stores(programs), t.BlocksStored, whole, "Each rounds. There are as many blocks: at which step along k is a sum complete?")
		r.atMost("grid steps", t.GridSteps, v4.GridSteps, whole, "v4 has that many.")
		r.atMost("bytes moved", t.BytesMoved(), v4.BytesMoved(), traverse.Bytes, "The accumulator never leaves fast memory: v4 moves no less.")
		r.atMost("fast memory", t.FastBytes, v4.FastBytes+p.Acc.Bytes(int64(s.M*s.N)), traverse.FastMemory, "An accumulator of one block is enough.")
	}
	return nil
}

// stores is how often programs round into blocks of outputs, over all their steps.
func stores(programs []*tile.Program) (n int64) {
	for _, p := range programs {
		var count func(body []*tile.Stmt, at tile.Env)
		count = func(body []*tile.Stmt, at tile.Env) {
			for _, s := range body {
				if s.Kind != tile.When || tile.EvalCond(s.Cond, at) {
					count(s.Body, at)
				}
				if (s.Kind == tile.Store || s.Kind == tile.Accumulate) && s.Ref.Kind == tile.Out {
					n++
				}
			}
		}
		for at := range tile.Points(p.Grid) {
			count(p.Body, at)
		}
	}
	return n
}
