// Package tiletest has tile programs for the tests of whatever reads programs.
//
// Small and Tiled are programs written by hand, each of which uses a part of the language
// that no rung of the ladder does; Attention, Batched, Grouped and DynamicQuant build some of
// them at other sizes.
//
// Random makes programs out of bytes, for fuzz tests: a small product of blocks on a ragged
// grid, with a random grid order, index maps, dtypes, body and epilogue. Now and then it
// makes a mistake on purpose, so that some programs are nearly right; Verify is what tells.
// The same bytes always make the same program, of a few hundred steps over arrays of at most
// some dozen elements a side, so that running it takes microseconds.
//
// Inputs makes arrays for a program, tables included. Nothing here judges, runs or compares.
package tiletest

import "matladder/tile"

// Random returns the program that data stands for, or what Verify says of it.
func Random(data []byte) (*tile.Program, error) {
	g := generator{source: source{data}, Builder: tile.New("random")}
	g.sizes()
	g.grid()
	g.arrays()
	g.body()
	ps, err := g.Programs()
	if err != nil {
		return nil, err
	}
	return ps[0], nil
}

// generator makes one product o (m, n) = a (m, k) @ b (k, n) with variations.
type generator struct {
	source
	*tile.Builder

	m, k, n, bm, bk, bn int // array and block sizes
	batch               int // 0: no batch dimension
	adt, bdt, odt, acc  tile.Dtype
	transA, transB      bool

	i, j, kk tile.IndexExpr // block indices along m, n and k
	batchID  tile.IndexExpr
	kAxis    *tile.Axis // nil: k is whole
	inexact  bool       // the epilogue has rounded what is no small integer

	a, b, o, bias, col *tile.Ref
}

func (g *generator) sizes() {
	g.m, g.k, g.n = g.between(1, 11), g.between(1, 11), g.between(1, 11)
	g.bm, g.bk, g.bn = g.between(1, 6), g.between(1, 6), g.between(1, 6)
	if g.below(3) == 2 {
		g.batch = g.between(1, 3)
	}
	switch g.below(6) {
	case 0, 1:
		g.adt, g.bdt = tile.Float32, tile.Float32
	case 2:
		g.adt, g.bdt = tile.BFloat16, tile.BFloat16
	case 3:
		g.adt, g.bdt = tile.Int8, pick(&g.source, tile.Int8, tile.Int4, tile.Uint8)
	case 4:
		g.adt = pick(&g.source, tile.Float8E4M3FN, tile.Float8E5M2)
		g.bdt = pick(&g.source, tile.Float8E4M3FN, tile.Float8E5M2)
	case 5:
		ds := tile.Dtypes()
		g.adt, g.bdt = pick(&g.source, ds...), pick(&g.source, ds...)
	}
	g.acc = tile.DotResult(g.adt, g.bdt)
	g.odt = g.acc
	if g.below(3) == 2 {
		g.odt = pick(&g.source, tile.Dtypes()...)
	}
	g.transA, g.transB = g.below(4) == 3, g.below(4) == 3
}

// steps is how many blocks cover n, now and then one too many or too few.
func (g *generator) steps(n, block int) int {
	s := tile.Ceil(n, block)
	if g.rarely() {
		s += g.between(-1, 1)
	}
	return s
}

func (g *generator) grid() {
	inner := tile.Arbitrary
	if g.rarely() {
		inner = tile.Parallel
	}
	outer := pick(&g.source, tile.Parallel, tile.Parallel, tile.Arbitrary)
	gi, gj := g.steps(g.m, g.bm), g.steps(g.n, g.bn)
	if g.batch > 0 {
		g.batchID = g.Axis("batch", g.steps(g.batch, 1), outer)
	}
	kFirst := g.rarely()
	if g.below(4) == 3 {
		g.bk = g.k
	}
	addK := func() {
		if g.bk < g.k || g.rarely() {
			size := g.steps(g.k, g.bk)
			if g.below(8) == 7 {
				steps := g.Table("steps", 1)
				g.kAxis = g.BoundedAxis("k", size, inner, steps.At(tile.Const(0)))
			} else {
				g.kAxis = g.Axis("k", size, inner)
			}
		}
	}
	if kFirst {
		addK()
	}
	switch g.below(4) {
	case 0, 1:
		g.i, g.j = g.Axis("i", gi, outer), g.Axis("j", gj, outer)
	case 2:
		g.j, g.i = g.Axis("j", gj, outer), g.Axis("i", gi, outer)
	case 3:
		pid := g.Axis("pid", gi*gj, outer)
		group := g.between(1, 3)
		if gi%group == 0 && gi > 0 && gj > 0 {
			g.i = tile.Plus(tile.Times(tile.FloorDiv(pid, group*gj), group), tile.Mod(pid, group))
			g.j = tile.FloorDiv(tile.Mod(pid, group*gj), group)
		} else {
			g.i, g.j = tile.FloorDiv(pid, gj), tile.Mod(pid, gj)
		}
	}
	if !kFirst {
		addK()
	}
	g.kk = tile.Const(0)
	if g.kAxis != nil {
		g.kk = g.kAxis
	}
	if g.below(8) == 7 {
		g.i = tile.AtLeast(tile.AtMost(g.i, tile.Const(tile.Ceil(g.m, g.bm)-1)), tile.Const(0))
	}
	if g.rarely() {
		g.i = tile.Plus(g.i, tile.Const(g.between(-1, 1)))
	}
}

// array adds the batch dimension, if there is one, to an array and its block.
func (g *generator) array(dims, block []int, at ...tile.IndexExpr) (tile.ArrayShape, tile.BlockSpec) {
	if g.batch > 0 {
		dims = append([]int{g.batch}, dims...)
		block = append([]int{tile.Squeezed}, block...)
		at = append([]tile.IndexExpr{g.batchID}, at...)
	}
	return dims, tile.BlockSpec{Shape: block, Index: at}
}

func (g *generator) arrays() {
	row := g.i
	if g.below(8) == 7 { // rows gathered by a table
		table := g.Table("rows", g.between(1, 12))
		row = table.At(tile.Const(0))
		if axis, ok := g.i.(*tile.Axis); ok {
			row = table.At(axis)
		}
	}
	dims, block, at := []int{g.m, g.k}, []int{g.bm, g.bk}, []tile.IndexExpr{row, g.kk}
	if g.transA {
		swap(dims, block, at)
	}
	array, spec := g.array(dims, block, at...)
	g.a = g.In("a", g.adt, array, spec)

	dims, block, at = []int{g.k, g.n}, []int{g.bk, g.bn}, []tile.IndexExpr{g.kk, g.j}
	if g.transB {
		swap(dims, block, at)
	}
	array, spec = g.array(dims, block, at...)
	g.b = g.In("b", g.bdt, array, spec)

	zero := tile.Const(0)
	if g.below(3) == 2 {
		g.bias = g.In("bias", tile.Float32, tile.Array(1, g.n), tile.Block(1, g.bn).At(zero, g.j))
	}
	if g.below(3) == 2 {
		g.col = g.In("col", tile.Float32, tile.Array(g.m, 1), tile.Block(g.bm, 1).At(g.i, zero))
	}
	array, spec = g.array([]int{g.m, g.n}, []int{g.bm, g.bn}, g.i, g.j)
	g.o = g.Out("o", g.odt, array, spec)
}

func swap(dims, block []int, at []tile.IndexExpr) {
	dims[0], dims[1] = dims[1], dims[0]
	block[0], block[1] = block[1], block[0]
	at[0], at[1] = at[1], at[0]
}
