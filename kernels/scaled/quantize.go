package scaled

import (
	"fmt"
	"math"

	"matladder/problem"
	"matladder/tile"
)

// smallest keeps scales normal numbers, so that their inverses are finite.
const smallest = 0x1p-126

// quantizers are the programs that make qa, sa and, if asymmetric, za of a, by
// the arithmetic of package quant to the bit, wherever float32 is computed as such:
// the interpreter is more exact, and where an element is next to the middle between
// two codes may take the other. Rows are quantized one by one; a scale for all of a
// needs a pass over it first.
func quantizers(name string, p problem.Matmul, scheme problem.Scheme) ([]*tile.Program, error) {
	switch scheme.A {
	case problem.Token:
		return quantizeRows(name, p, scheme)
	case problem.TokenBlock:
		return quantizeGroups(name, p, scheme)
	}
	ahead, err := findStep(name, p, scheme)
	if err != nil {
		return nil, err
	}
	last, err := quantizeAll(name, p, scheme)
	return append(ahead, last...), err
}

// rowsAtOnce is how many whole rows of a one program quantizes: about a quarter
// of a million elements, in whole tiles of int8.
func rowsAtOnce(p problem.Matmul) int { return rowsOf(p, p.K) }

// rowsOf is the same of parts of rows.
func rowsOf(p problem.Matmul, elements int) int {
	const most, tiled = 1 << 18, 32
	return min(max(most/elements/tiled, 1)*tiled, p.M)
}

// quantizeRows quantizes each row by its own extremes.
func quantizeRows(name string, p problem.Matmul, scheme problem.Scheme) ([]*tile.Program, error) {
	rows := rowsAtOnce(p)
	t := Begin(name+"_rows", p, scheme, tile.Blocks{})
	i, zero := t.Axis("i", tile.Ceil(p.M, rows), tile.Parallel), tile.Const(0)
	a := t.In("a", p.A, t.Array(p.M, p.K), t.Block(rows, p.K).At(i, zero))
	codes, _ := p.Factors()
	qa := t.Out("qa", codes, t.Array(p.M, p.K), t.Block(rows, p.K).At(i, zero))
	sa := t.Out("sa", tile.Float32, t.Array(p.M, 1), t.Block(rows, 1).At(i, zero))
	var za *tile.Ref
	if scheme.ZeroA {
		za = t.Out("za", tile.Int32, t.Array(p.M, 1), t.Block(rows, 1).At(i, zero))
	}
	x := tile.Cast(a, tile.Float32)
	t.RowSteps(sa, za, codes, x)
	t.Store(qa, t.CodesOf(x, sa, za, codes))
	return t.Programs()
}

// quantizeGroups quantizes each group of k of each row by its own extremes. The scales of
// a row stay from its first group to the last, each of which adds its own.
func quantizeGroups(name string, p problem.Matmul, scheme problem.Scheme) ([]*tile.Program, error) {
	size, groups := min(scheme.Block, p.K), p.Groups(scheme)
	rows := rowsOf(p, size)
	t := Begin(name+"_groups", p, scheme, tile.Blocks{})
	i, g := t.Axis("i", tile.Ceil(p.M, rows), tile.Parallel), t.Axis("g", groups, tile.Arbitrary)
	a := t.In("a", p.A, t.Array(p.M, p.K), t.Block(rows, size).At(i, g))
	codes, _ := p.Factors()
	qa := t.Out("qa", codes, t.Array(p.M, p.K), t.Block(rows, size).At(i, g))
	sa := t.Out("sa", scheme.Scales, t.Array(p.M, groups), t.Block(rows, groups).At(i, tile.Const(0)))
	step := t.Scratch("step", tile.Float32, rows, 1)
	x := tile.Cast(a, tile.Float32)
	if in := Inside(a); in != nil {
		x = tile.Select(in, x, tile.Number(0))
	}
	t.Step(step, nil, codes, nil, nil, tile.RowMax(tile.Abs(x)))
	t.Store(qa, t.CodesOf(x, step, nil, codes))
	t.When(g.First(), func() { t.Fill(sa, 1) })
	is := tile.Compare(tile.Iota(1, rows, groups), tile.EQ, tile.IndexValue(g))
	t.Store(sa, tile.Cast(tile.Select(is, step, tile.Cast(sa, tile.Float32)), scheme.Scales))
	return t.Programs()
}

// findStep goes over all of a for its extremes, one block of rows after another.
func findStep(name string, p problem.Matmul, scheme problem.Scheme) ([]*tile.Program, error) {
	rows := rowsAtOnce(p)
	t := Begin(name+"_step", p, scheme, tile.Blocks{})
	i, zero := t.Axis("i", tile.Ceil(p.M, rows), tile.Arbitrary), tile.Const(0)
	a := t.In("a", p.A, t.Array(p.M, p.K), t.Block(rows, p.K).At(i, zero))
	one := t.Block(1, 1).At(zero, zero)
	sa := t.Out("sa", tile.Float32, t.Array(1, 1), one)
	codes, _ := p.Factors()
	x := tile.Cast(a, tile.Float32)
	if a.Partial(0) {
		x = tile.Select(tile.InBounds(a, 0), x, tile.Number(0))
	}
	hi := t.Scratch("hi", tile.Float32, 1, 1)
	t.When(i.First(), func() { t.Fill(hi, 0) })
	if !scheme.ZeroA {
		t.Store(hi, tile.Max(hi, t.top("size", tile.RowMax(tile.Abs(x)), rows)))
		t.When(i.Last(), func() { t.Step(sa, nil, codes, nil, nil, hi) })
		return t.Programs()
	}
	za := t.Out("za", tile.Int32, t.Array(1, 1), one)
	lo := t.Scratch("lo", tile.Float32, 1, 1) // negated
	t.When(i.First(), func() { t.Fill(lo, 0) })
	t.Store(hi, tile.Max(hi, t.top("above", tile.RowMax(x), rows)))
	t.Store(lo, tile.Max(lo, t.top("below", tile.RowMax(tile.Neg(x)), rows)))
	t.When(i.Last(), func() { t.Step(sa, za, codes, tile.Neg(lo), hi, nil) })
	return t.Programs()
}

// top is the largest of a column of rows, by halves: the language reduces rows
// only. Halves of an odd number overlap.
func (t *Program) top(name string, column tile.Value, rows int) tile.Value {
	for rows > 1 {
		r := t.Scratch(fmt.Sprint(name, rows), tile.Float32, rows, 1)
		t.Store(r, column)
		half := (rows + 1) / 2
		column = tile.Max(tile.Slice(r, 0, tile.Const(0), half), tile.Slice(r, 0, tile.Const(rows-half), half))
		rows = half
	}
	return column
}

// sumRows is the program that sums the rows of a, as the product meets it, for
// the zero points of b.
func (t *Program) sumRows(name string) ([]*tile.Program, error) {
	p, rows := t.P, rowsAtOnce(t.P)
	s := Begin(name+"_sums", p, t.Scheme, tile.Blocks{})
	i, zero := s.Axis("i", tile.Ceil(p.M, rows), tile.Parallel), tile.Const(0)
	a := s.In(t.A, p.A, s.Array(p.M, p.K), s.Block(rows, p.K).At(i, zero))
	sums := s.Out("a_sums", p.Acc, s.Array(p.M, 1), s.Block(rows, 1).At(i, zero))
	s.Store(sums, tile.RowSum(tile.Cast(a, p.Acc)))
	return s.Programs()
}

// quantizeAll quantizes a by the one scale that findStep made.
func quantizeAll(name string, p problem.Matmul, scheme problem.Scheme) ([]*tile.Program, error) {
	rows := rowsAtOnce(p)
	t := Begin(name+"_all", p, scheme, tile.Blocks{})
	i, zero := t.Axis("i", tile.Ceil(p.M, rows), tile.Parallel), tile.Const(0)
	a := t.In("a", p.A, t.Array(p.M, p.K), t.Block(rows, p.K).At(i, zero))
	codes, _ := p.Factors()
	one := t.Block(1, 1).At(zero, zero)
	sa := t.In("sa", tile.Float32, t.Array(1, 1), one)
	var za *tile.Ref
	if scheme.ZeroA {
		za = t.In("za", tile.Int32, t.Array(1, 1), one)
	}
	qa := t.Out("qa", codes, t.Array(p.M, p.K), t.Block(rows, p.K).At(i, zero))
	t.Store(qa, t.CodesOf(tile.Cast(a, tile.Float32), sa, za, codes))
	return t.Programs()
}

// RowSteps stores the step of each row of x.
func (t *Program) RowSteps(sa, za *tile.Ref, codes tile.Dtype, x tile.Value) {
	if za == nil {
		t.Step(sa, nil, codes, nil, nil, tile.RowMax(tile.Abs(x)))
		return
	}
	t.Step(sa, za, codes, tile.Neg(tile.RowMax(tile.Neg(x))), tile.RowMax(x), nil)
}

// Step stores the scale of groups with extremes lo and hi, or with the largest
// magnitude absmax, and the zero point if za is there. See package quant.
func (t *Program) Step(sa, za *tile.Ref, codes tile.Dtype, lo, hi, absmax tile.Value) {
	bottom, largest := codes.Range()
	if t.Scheme.Scales == tile.Float8E8M0FNU {
		t.Store(sa, t.power(absmax, largest))
		return
	}
	if za == nil {
		t.Store(sa, tile.Max(tile.Mul(absmax, inverse(largest)), tile.Number(smallest)))
		return
	}
	lo, hi = tile.Min(lo, tile.Number(0)), tile.Max(hi, tile.Number(0))
	t.Store(sa, tile.Max(tile.Mul(tile.Sub(hi, lo), inverse(largest-bottom)), tile.Number(smallest)))
	steps := tile.RoundEven(tile.Mul(lo, tile.Div(tile.Number(1), sa)))
	t.Store(za, tile.Cast(tile.Sub(tile.Number(bottom), steps), tile.Int32))
}

// power is the power of two that scales a group, by the rule of the scheme: that below or above
// what would have absmax, or the power of two below it, for its largest code.
func (t *Program) power(absmax tile.Value, largest float64) tile.Value {
	by, beyond, half := tile.Number(math.Ldexp(1, -math.Ilogb(largest))), tile.GT, 0.5
	if t.Scheme.Up {
		by, beyond, half = inverse(largest), tile.LT, 2
	}
	x := tile.Max(tile.Mul(absmax, by), tile.Number(smallest))
	near := tile.Cast(tile.Cast(x, tile.Float8E8M0FNU), tile.Float32)
	return tile.Select(tile.Compare(near, beyond, x), tile.Mul(near, tile.Number(half)), near)
}

// inverse is 1/x in float32: a constant to multiply by, since compilers make one
// of a constant divisor anyway.
func inverse(x float64) *tile.Expr { return tile.Number(float64(float32(1 / x))) }

// CodesOf is x by its scale, rounded: a cast goes to the nearest code, halves to
// the even one, and saturates; that to float8 does not, where a scale that is rounded down
// leaves more than the largest code.
func (t *Program) CodesOf(x tile.Value, sa, za *tile.Ref, codes tile.Dtype) tile.Value {
	x = tile.Mul(x, tile.Div(tile.Number(1), sa))
	if za != nil {
		x = tile.Add(tile.RoundEven(x), tile.Cast(za, tile.Float32))
	}
	if lo, hi := codes.Range(); codes.IsFloat() && t.Scheme.Scales == tile.Float8E8M0FNU && !t.Scheme.Up {
		x = tile.Min(tile.Max(x, tile.Number(lo)), tile.Number(hi))
	}
	return tile.Cast(x, codes)
}
