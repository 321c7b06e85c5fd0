package process

import (
	"errors"

	"matladder/backend/internal/stage"
	"matladder/problem"
	"matladder/tile"
)

// errScales ends a sentence that begins with the library's name.
var errScales = errors.New("asked for scales that are given, one for all of a or for each row, one for all of b or for each column")

// scalesOf returns how many scales p has of a, one or one for each row, and of b, one or one
// for each column, 0 if nothing is scaled; or why no peer is asked for a product of that
// quantization.
func scalesOf(p problem.Matmul) (a, b int, err error) {
	s, err := p.Scheme()
	if err != nil || s.B == problem.NoGrain {
		return 0, 0, err
	}
	if s.Dynamic || s.ZeroA || s.ZeroB || s.A == problem.NoGrain || s.B == problem.Block {
		return 0, 0, errScales
	}
	a, b = 1, 1
	if s.A == problem.Token {
		a = p.M
	}
	if s.B == problem.Channel {
		b = p.N
	}
	return a, b, nil
}

// operandsOf are the arrays that a peer is loaded with, in the order in which they are
// handed over, and the one that comes back.
func operandsOf(asked problem.Problem) (in, out []problem.Operand, err error) {
	in, out = stage.Split(asked.Operands())
	if p, ok := asked.(problem.Matmul); ok {
		var a, b int
		if a, b, err = scalesOf(p); a > 0 {
			in = append(in, problem.Operand{Name: "sa", Dtype: tile.Float32, Shape: []int{a, 1}}, problem.Operand{Name: "sb", Dtype: tile.Float32, Shape: []int{1, b}})
		}
	}
	return in, out, err
}
