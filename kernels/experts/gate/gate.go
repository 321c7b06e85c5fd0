// Package gate chooses experts for tokens: the largest logits of each row, one after another,
// and a weight for each by softmax.
package gate

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Build writes the choice as a tile program that sees bm tokens at once: of logits (Tokens×Experts)
// it makes experts (Tokens×Choices, int32) and weights (Tokens×Choices), the largest first.
//
// There is no sort: the largest logit of a row is found, and the first column that has it;
// that is set below all others, and the next is found.
func Build(p problem.Experts, bm int) ([]*tile.Program, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	t := tile.New("gate")
	i := t.Axis("i", tile.Ceil(p.Tokens, bm), tile.Parallel)
	zero := tile.Const(0)
	logits := t.In("logits", tile.Float32, tile.Array(p.Tokens, p.Experts), tile.Block(bm, p.Experts).At(i, zero))
	chosen := tile.Block(bm, p.Choices).At(i, zero)
	experts := t.Out("experts", tile.Int32, tile.Array(p.Tokens, p.Choices), chosen)
	weights := t.Out("weights", tile.Float32, tile.Array(p.Tokens, p.Choices), chosen)
	left := t.Scratch("left", tile.Float32, bm, p.Experts)
	sum := t.Scratch("sum", tile.Float32, bm, 1)
	column := tile.Cast(tile.Iota(1, bm, p.Experts), tile.Float32)
	least := tile.Number(-math.MaxFloat32) // what is chosen is below

	t.Store(left, tile.Max(logits, least))
	tops, firsts := make([]tile.Value, p.Choices), make([]tile.Value, p.Choices)
	for c := range p.Choices {
		top, first := t.Scratch(name("top", c), tile.Float32, bm, 1), t.Scratch(name("first", c), tile.Float32, bm, 1)
		t.Store(top, tile.RowMax(left))
		largest := tile.Compare(left, tile.EQ, top)
		t.Store(first, tile.Neg(tile.RowMax(tile.Select(largest, tile.Neg(column), tile.Number(math.Inf(-1))))))
		if c < p.Choices-1 {
			t.Store(left, tile.Select(tile.Compare(column, tile.EQ, first), tile.Number(math.Inf(-1)), left))
		}
		tops[c], firsts[c] = top, first
	}
	power := func(x tile.Value) *tile.Expr { return tile.Exp(tile.Sub(x, tops[0])) }
	all := power(tile.Max(logits, least))
	of := tile.Concat(1, tops...)
	switch p.Order {
	case problem.TopFirst:
		t.Store(sum, tile.RowSum(power(of)))
		t.Store(weights, tile.Div(power(of), sum))
	case problem.SoftmaxFirst:
		t.Store(sum, tile.RowSum(all))
		t.Store(weights, tile.Div(power(of), sum))
	case problem.Renormalized:
		t.Store(sum, tile.RowSum(all))
		part := t.Scratch("part", tile.Float32, bm, p.Choices)
		kept := t.Scratch("kept", tile.Float32, bm, 1)
		t.Store(part, tile.Div(power(of), sum))
		t.Store(kept, tile.RowSum(part))
		t.Store(weights, tile.Div(part, kept))
	}
	t.Store(experts, tile.Cast(tile.Concat(1, firsts...), tile.Int32))
	return t.Programs()
}

func name(what string, c int) string { return what + "_" + tile.Const(c).String() }
