package process

import (
	"errors"

	"matladder/backend/internal/stage"
	"matladder/problem"
	"matladder/tile"
)

// scales are how many a problem has.
type scales struct {
	a int // 1, or one for each row
	b int // 1, or one for each column; 0 like a if nothing is scaled
}

// errScales ends a sentence that begins with the library's name.
var errScales = errors.New("asked for scales that are given, one for all of a or for each row, one for all of b or for each column")

// scalesOf returns how many scales p has, or why no peer is asked for a product
// of that quantization.
func scalesOf(p problem.Matmul) (scales, error) {
	s, err := p.Scheme()
	if err != nil || s.B == problem.NoGrain {
		return scales{}, err
	}
	if s.Dynamic || s.ZeroA || s.ZeroB || s.A == problem.NoGrain || s.B == problem.Block {
		return scales{}, errScales
	}
	count := scales{1, 1}
	if s.A == problem.Token {
		count.a = p.M
	}
	if s.B == problem.Channel {
		count.b = p.N
	}
	return count, nil
}

// operandsOf are the arrays that a peer is loaded with, in the order in which they are
// handed over, and the one that comes back.
func operandsOf(asked problem.Problem) (in, out []problem.Operand, err error) {
	in, out = stage.Split(asked.Operands())
	if p, ok := asked.(problem.Matmul); ok {
		var s scales
		if s, err = scalesOf(p); s != (scales{}) {
			in = append(in, problem.Operand{Name: "sa", Dtype: tile.Float32, Shape: []int{s.a, 1}}, problem.Operand{Name: "sb", Dtype: tile.Float32, Shape: []int{1, s.b}})
		}
	}
	return in, out, err
}
