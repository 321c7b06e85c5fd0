// Package route sorts the choices of tokens by expert, on the host: the tile language has
// neither sort nor running sum, and needs none where tables tell where rows go.
package route

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Nobody is what tables hold in place of a token or a row where there is none.
const Nobody = -1

// Tables say which row each choice has. All are int32.
type Tables struct {
	Offsets tile.Tensor // (Experts + 1): the first row of each expert, as problem.Grouped has them
	Tokens  tile.Tensor // (Rows): whose row it is; Nobody where no choice filled it
	Rows    tile.Tensor // (Tokens·Choices): the row of each choice, those of a token beside each other; Nobody where it was dropped
	Dropped int         // choices beyond capacity
}

// Of routes experts (Tokens×Choices), what gate makes, by a counting sort: rows of one expert
// are in the order of tokens.
func Of(p problem.Experts, experts tile.Tensor) (Tables, error) {
	if err := p.Validate(); err != nil {
		return Tables{}, err
	}
	if experts.Dtype != tile.Int32 || experts.Len() != p.Tokens*p.Choices {
		return Tables{}, fmt.Errorf("experts: %s%v, want int32[%d %d]", experts.Dtype, experts.Shape, p.Tokens, p.Choices)
	}
	chosen := experts.Int32s()
	next := make([]int32, p.Experts+1)
	for i, e := range chosen {
		if e < 0 || int(e) >= p.Experts {
			return Tables{}, fmt.Errorf("experts: token %d chooses expert %d of %d", i/p.Choices, e, p.Experts)
		}
		next[e+1]++
	}
	for e := range p.Experts {
		if p.Capacity > 0 {
			next[e+1] = int32(p.Capacity)
		}
		next[e+1] += next[e]
	}
	r := Tables{Offsets: tile.NewTensor(tile.Int32, p.Experts+1), Tokens: tile.NewTensor(tile.Int32, p.Rows()), Rows: tile.NewTensor(tile.Int32, len(chosen))}
	offsets, tokens, rows := r.Offsets.Int32s(), r.Tokens.Int32s(), r.Rows.Int32s()
	copy(offsets, next)
	for i := range tokens {
		tokens[i] = Nobody
	}
	for i, e := range chosen {
		row := next[e]
		if row == offsets[e+1] {
			rows[i] = Nobody
			r.Dropped++
			continue
		}
		next[e]++
		rows[i], tokens[row] = row, int32(i/p.Choices)
	}
	return r, nil
}
