package tiletest

import "matladder/tile"

// body writes one of the ways in which a kernel accumulates.
func (g *generator) body() {
	switch {
	case g.kAxis == nil && g.often():
		g.store(g.output(g.product()))
	case g.odt == g.acc && g.below(2) == 0, g.odt.IsFloat() && g.acc == tile.Float32 && g.below(4) == 3:
		g.when(true, func() { g.Fill(g.o, 0) })
		g.add(g.o)
	default:
		acc := g.Scratch("acc", g.acc, g.bm, g.bn)
		g.when(true, func() { g.Fill(acc, float64(g.below(3))) })
		g.add(acc)
		g.when(false, func() { g.store(g.output(acc)) })
	}
	if g.below(4) == 3 {
		g.rowStatistic()
	}
}

// store writes the output whole, or in two parts.
func (g *generator) store(v tile.Value) {
	if g.below(6) < 5 {
		g.Store(g.o, v)
		return
	}
	var cut tile.IndexExpr = tile.Const(g.between(-1, g.bm+1))
	if g.kAxis != nil && g.below(2) == 1 {
		cut = tile.AtMost(g.kAxis, cut)
	}
	g.StoreRows(g.o, tile.Const(-1), cut, v)
	g.StoreRows(g.o, cut, tile.Const(g.bm), v)
}

// when runs body at the first or last step along k.
func (g *generator) when(first bool, body func()) {
	switch {
	case g.rarely():
		// forgotten
	case g.kAxis == nil || g.rarely():
		body()
	case first != (g.rarely() && g.kAxis.Bound == nil): // where a table says when, Verify trusts it
		g.When(pick(&g.source, g.kAxis.First(), tile.Not(tile.Test(g.kAxis, tile.GT, tile.Const(0)))), body)
	default:
		g.When(pick(&g.source, g.kAxis.Last(), tile.All(g.kAxis.Last(), tile.Any(g.kAxis.Last()))), body)
	}
}

// add accumulates the product into r, whole or slice by slice.
func (g *generator) add(r *tile.Ref) {
	if g.below(3) < 2 {
		g.Accumulate(r, g.product())
		return
	}
	size := g.between(1, g.bk)
	count := g.bk / size
	if g.rarely() {
		count++
	}
	g.Loop("s", count, func(s *tile.Axis) {
		from := tile.Times(s, size)
		g.Accumulate(r, g.dot(
			tile.Slice(g.a, contraction(g.transA, 1), from, size),
			tile.Slice(g.b, contraction(g.transB, 0), from, size)))
	})
	if rest := g.bk - g.bk/size*size; rest > 0 {
		from := tile.Const(g.bk - rest)
		g.Accumulate(r, g.dot(
			tile.Slice(g.a, contraction(g.transA, 1), from, rest),
			tile.Slice(g.b, contraction(g.transB, 0), from, rest)))
	}
}

func contraction(transposed bool, dim int) int {
	if transposed {
		return 1 - dim
	}
	return dim
}

func (g *generator) product() *tile.Expr { return g.dot(g.a, g.b) }

func (g *generator) dot(a, b tile.Value) *tile.Expr {
	opts := []tile.DotOption{tile.AtPrecision(pick(&g.source, tile.Default, tile.Highest))}
	if g.transA {
		opts = append(opts, tile.TransA)
	}
	if g.transB {
		opts = append(opts, tile.TransB)
	}
	return tile.Dot(a, b, opts...)
}

// output is the epilogue: up to four steps on x, then the cast to o's dtype.
func (g *generator) output(x tile.Value) tile.Value {
	integer := g.acc.IsInteger()
	if g.below(2) == 1 || g.bias != nil || g.col != nil {
		x, integer = tile.Cast(x, tile.Float32), false
	}
	if g.bias != nil {
		x = tile.Add(x, g.bias)
	}
	if g.col != nil {
		x = tile.Mul(x, g.col)
	}
	for range g.below(5) {
		x = g.step(x, integer)
	}
	if g.rarely() {
		return x
	}
	return tile.Cast(x, g.odt)
}

// step applies one operation to x, of the output block's shape.
func (g *generator) step(x tile.Value, integer bool) tile.Value {
	number := tile.Number(float64(g.between(-2, 2)))
	switch g.below(13) {
	case 0:
		return tile.Add(x, number)
	case 1:
		return tile.Mul(x, number)
	case 2:
		return tile.Relu(x)
	case 3:
		return tile.Min(tile.Neg(x), tile.Abs(tile.Sub(x, number)))
	case 4:
		return tile.Select(tile.Compare(g.aside(x), pick(&g.source, tile.EQ, tile.NE, tile.LT, tile.LE, tile.GT, tile.GE), number), x, number)
	case 5:
		return tile.Sub(x, g.rowReduction(x))
	case 6:
		at := g.below(g.bn)
		if at == 0 {
			return tile.Concat(0, x)
		}
		return tile.Concat(1, tile.Slice(x, 1, tile.Const(0), at), tile.Slice(x, 1, tile.Const(at), g.bn-at))
	case 7:
		c := tile.Compare(tile.Iota(1, g.bm, g.bn), tile.GE, tile.IndexValue(g.kk))
		return tile.Select(tile.And(c, tile.Or(c, tile.Invert(c))), x, number)
	case 8:
		if integer {
			return tile.Cast(tile.Cast(x, tile.Int8), tile.Int32)
		}
		return tile.Cast(tile.Cast(x, pick(&g.source, tile.BFloat16, tile.Float8E5M2, tile.Float8E4M3FN)), tile.Float32)
	case 9:
		return tile.Add(x, tile.Cast(tile.IndexValue(pick(&g.source, g.i, g.j)), dtypeFor(integer)))
	case 10:
		return tile.Select(tile.Invert(tile.InBounds(g.o, 1)), number, x)
	case 11:
		if integer {
			return tile.Max(x, number)
		}
		functions := []func(tile.Value) *tile.Expr{tile.Tanh, tile.Logistic, tile.NormalCDF, tile.Silu, tile.Gelu, exp2OfHalf, logOfSize}
		at := g.below(1 + len(functions))
		if at == 0 {
			return tile.RoundEven(g.aside(x))
		}
		g.inexact = true
		return functions[at-1](x)
	}
	if integer {
		return x
	}
	g.inexact = true
	half := tile.Mul(tile.Min(x, tile.Number(8)), tile.Number(0.5))
	return tile.Div(tile.Exp(half), tile.Add(tile.Rsqrt(tile.Add(tile.Abs(x), tile.Number(1))), tile.Number(1)))
}

// aside moves x off the numbers at which what follows jumps (halves and integers), if x may
// be an ulp from what another arithmetic makes of it: exp(0) ÷ (rsqrt(1) + 1) is a half.
func (g *generator) aside(x tile.Value) tile.Value {
	if !g.inexact {
		return x
	}
	return tile.Add(x, tile.Number(0.29289))
}

func exp2OfHalf(x tile.Value) *tile.Expr {
	return tile.Exp2(tile.Mul(tile.Min(x, tile.Number(8)), tile.Number(0.5)))
}

func logOfSize(x tile.Value) *tile.Expr { return tile.Log(tile.Add(tile.Abs(x), tile.Number(1))) }

func dtypeFor(integer bool) tile.Dtype {
	if integer {
		return tile.Int32
	}
	return tile.Float32
}

// rowReduction reduces each row of x, its padding masked but for a mistake.
func (g *generator) rowReduction(x tile.Value) tile.Value {
	if !g.rarely() {
		x = tile.Select(tile.InBounds(g.o, 1), x, tile.Number(0))
	}
	if g.below(4) == 3 {
		if !g.rarely() {
			x = tile.Select(tile.InBounds(g.o, 0), x, tile.Number(0))
		}
		return pick(&g.source, tile.ReduceMax, tile.ReduceSum)(x, 0)
	}
	return pick(&g.source, tile.RowMax, tile.RowSum)(x)
}

// rowStatistic adds an output that holds the largest element of each row of a,
// carried over k in scratch; one column a block of n, since those are parallel.
func (g *generator) rowStatistic() {
	if g.transA || g.a.Dtype == tile.InvalidDtype {
		return
	}
	lowest := -8.0
	if g.adt == tile.Uint8 {
		lowest = 0
	}
	array, spec := g.array([]int{g.m, tile.Ceil(g.n, g.bn)}, []int{g.bm, 1}, g.i, g.j)
	o := g.Out("o_max", g.adt, array, spec)
	top := g.Scratch("top", g.adt, g.bm, 1)
	g.when(true, func() { g.Fill(top, lowest) })
	rows := tile.RowMax(tile.Select(tile.InBounds(g.a, 1), g.a, tile.Number(lowest)))
	g.Store(top, tile.Max(top, rows))
	if g.odt.IsFloat() {
		g.when(false, func() { g.Store(o, top) })
	} else {
		g.Store(o, top)
	}
}
