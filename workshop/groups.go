package workshop

import (
	"context"
	"fmt"

	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex11"
	yours "matladder/workshop/exercises/ex11"
	solved "matladder/workshop/solutions/ex11"
)

var scaleGroups = exerciseOf[grouping](declares{"Bits": {yours.Bits, blank.Bits, solved.Bits}, "Scale": {yours.Scale, blank.Scale, solved.Scale}, "Build": {yours.Build, blank.Build, solved.Build}})

type grouping struct {
	Bits  func(code, Scale, group int) float64
	Scale func(absmax float64) float64
	Build builder
}

func (e grouping) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		code, scale, group int
		want               float64
	}{{4, 8, 32, 4.25}, {4, 8, 16, 4.5}, {8, 8, 32, 8.25}, {4, 32, 128, 4.25}} {
		got, call := e.Bits(c.code, c.scale, c.group), fmt.Sprintf("Bits(%d, %d, %d)", c.code, c.scale, c.group)
		r.expect(got == c.want, fmt.Sprintf("%s = %v", call, got), fmt.Sprintf("%s is %v, should be %v. A scale is there once for %d elements.", call, got, c.want, c.group))
	}
	for _, c := range []struct{ absmax, want float64 }{{6, 1}, {4, 1}, {7.9, 1}, {8, 2}, {0.3, 0.0625}} {
		got := e.Scale(c.absmax)
		r.expect(got == c.want, fmt.Sprintf("Scale(%v) = %v", c.absmax, got), fmt.Sprintf("Scale(%v) is %v, should be %v. Which power of two is just not above %v, and over what?", c.absmax, got, c.want, c.absmax))
	}
	for _, c := range []struct {
		m, k, n int
		s       tile.Blocks
	}{{32, 64, 48, tile.Blocks{M: 16, K: 32, N: 16}}, {40, 128, 56, tile.Blocks{M: 16, K: 64, N: 16}}} {
		p := problem.Matmul{Batch: 1, M: c.m, K: c.k, N: c.n, A: tile.Float32, B: tile.Float4E2M1FN, Acc: tile.Float32, Out: tile.Float32, Quant: "per_block32+e8m0"}
		programs, err := e.Build(p, c.s)
		if !r.built(programs, err) || !r.right(ctx, p, programs, on(p, c.s), "Did each sum take its own 32 elements of a and of b, and its own scales?") {
			return nil
		}
	}
	return nil
}
