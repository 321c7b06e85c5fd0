package workshop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"matladder/check"
	"matladder/kernels"
	"matladder/model"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// seed is that of every input.
const seed = 512

// built reports whether there is a program, and if not, why.
func (r *Report) built(programs []*tile.Program, err error) bool {
	if err != nil {
		r.wrong("tile refuses the program: %v", err)
		return false
	}
	if len(programs) == 0 || slices.Contains(programs, nil) {
		r.wrong("there is no program yet: Build returns none")
		return false
	}
	if r.Programs == nil {
		r.Programs = programs
	}
	return true
}

// outcome is what running programs on inputs from a seed shows.
type outcome struct {
	result check.Result
	caught catcher // which check found a mistake
	detail string
}

// run interprets programs, their parallel programs in another order than written,
// and compares what comes out with float64 arithmetic.
func run(ctx context.Context, p problem.Problem, programs []*tile.Program) outcome {
	wrong := func(c catcher, err error) outcome { return outcome{caught: c, detail: err.Error()} }
	b, err := tile.Bind(programs)
	if err != nil {
		return wrong(byVerify, err)
	}
	operands := p.Operands()
	want := operands[len(operands)-1]
	if len(b.Out) != 1 || b.Out[0].Dtype != want.Dtype || !slices.Equal(b.Out[0].Array, want.Shape) {
		return wrong(byVerify, fmt.Errorf("want one output, o of %s[%s]", want.Dtype, strings.ReplaceAll(strings.Trim(fmt.Sprint(want.Shape), "[]"), " ", ", ")))
	}
	dist := check.Uniform
	if m, ok := p.(problem.Matmul); ok && m.Quant != problem.NoQuant {
		dist = check.Normal // uniform numbers have the same power of two in every group
	}
	in, err := check.Inputs(ctx, p, programs, seed, dist)
	if err != nil {
		return wrong(byVerify, err)
	}
	out, err := interp.RunWith(ctx, programs, in, interp.Options{Shuffle: seed})
	if err != nil {
		return wrong(byInterpreter, err)
	}
	res, err := check.Verify(ctx, p, programs, in, out[0])
	switch {
	case err != nil:
		return wrong(byReference, err)
	case !res.OK:
		return outcome{res, byReference, res.Detail}
	}
	return outcome{res, byNothing, ""}
}

// right adds whether programs compute p. label says on what.
func (r *Report) right(ctx context.Context, p problem.Problem, programs []*tile.Program, label, hint string) bool {
	o := run(ctx, p, programs)
	if errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	return r.expect(o.caught == byNothing,
		"result right on "+label,
		fmt.Sprintf("result wrong on %s: %s. %s", label, o.detail, hint))
}

// counted are the counters of programs, or of an error in place of them, if right holds of them.
func (r *Report) counted(ctx context.Context, p problem.Problem, programs []*tile.Program, err error, label, hint string) (traverse.Totals, bool) {
	if !r.built(programs, err) || !r.right(ctx, p, programs, label, hint) {
		return traverse.Totals{}, false
	}
	return r.totals(ctx, programs)
}

// totals are the counters of programs whose index maps look up no tables.
func (r *Report) totals(ctx context.Context, programs []*tile.Program) (traverse.Totals, bool) {
	t, err := traverse.Sum(ctx, programs, nil)
	if err != nil {
		r.wrong("the blocks cannot be counted: %v", err)
	}
	return t, err == nil
}

// rung returns the programs of a kernel of the problem's ladder.
func rung(name string, p problem.Problem, s tile.Blocks) ([]*tile.Program, error) {
	k, err := kernels.FindIn(p.Family(), name)
	if err != nil {
		return nil, err
	}
	return k.Build(p, "", s)
}

// counters are those of a kernel of the ladder, gone through step by step.
func counters(ctx context.Context, name string, p problem.Problem, s tile.Blocks) (traverse.Totals, error) {
	programs, err := rung(name, p, s)
	if err != nil {
		return traverse.Totals{}, err
	}
	return traverse.Sum(ctx, programs, nil)
}

// counts are those of a kernel of the ladder by the closed form.
func counts(name string, p problem.Matmul, s tile.Blocks) (model.Counts, error) {
	programs, err := rung(name, p, s)
	if err != nil {
		return model.Counts{}, err
	}
	return model.Count(programs)
}

// on names a problem and its blocks.
func on(p problem.Matmul, s tile.Blocks) string {
	return fmt.Sprintf("%dx%dx%d, blocks %s", p.M, p.K, p.N, s)
}
