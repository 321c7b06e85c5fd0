package peer

import (
	"errors"

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

// operand is an array that a peer is loaded with.
type operand struct {
	name  string
	dtype tile.Dtype
	shape []int
}

// operands are the arrays of p in the order in which they are handed over.
func operands(p problem.Matmul, s scales) []operand {
	list := []operand{{"a", p.A, []int{p.M, p.K}}, {"b", p.B, []int{p.K, p.N}}}
	if s != (scales{}) {
		list = append(list, operand{"sa", tile.Float32, []int{s.a, 1}}, operand{"sb", tile.Float32, []int{1, s.b}})
	}
	return list
}
