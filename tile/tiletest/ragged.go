package tiletest

import (
	"math"

	"matladder/tile"
)

// ragged multiplies groups of rows by weights of their own. A block of rows is
// visited once for each group that has rows in it, and a visit stores those alone;
// how many visits there are is data.
type ragged struct {
	sizes            []int // of the groups
	k, n, bm, bk, bn int
}

func (ragged) name() string      { return "ragged" }
func (ragged) rounding() float64 { return 16 * tile.Float32.Epsilon() }

func (c ragged) programs() ([]*tile.Program, error) {
	t := tile.New("ragged_matmul")
	tables := c.tables()
	most, m := len(tables["group"]), tables["from"][len(c.sizes)]
	visits := t.Table("visits", 1)
	group, block, from := t.Table("group", most), t.Table("block", most), t.Table("from", len(c.sizes)+1)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	s := t.BoundedAxis("s", most, tile.Arbitrary, visits.At(tile.Const(0)))
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	x := t.In("x", tile.BFloat16, tile.Array(m, c.k), tile.Block(c.bm, c.bk).At(block.At(s), k))
	w := t.In("w", tile.BFloat16, tile.Array(len(c.sizes), c.k, c.n), tile.Block(tile.Squeezed, c.bk, c.bn).At(group.At(s), k, j))
	o := t.Out("o", tile.BFloat16, tile.Array(m, c.n), tile.Block(c.bm, c.bn).At(block.At(s), j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)
	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, w))
	t.When(k.Last(), func() {
		first := tile.Times(block.At(s), -c.bm)
		end := from.At(tile.Plus(group.At(s), tile.Const(1)))
		t.StoreRows(o, tile.Plus(from.At(group.At(s)), first), tile.Plus(end, first), tile.Cast(acc, tile.BFloat16))
	})
	return t.Programs()
}

// tables are the visits in order; those past the last repeat it.
func (c ragged) tables() map[string][]int {
	from, group, block := []int{0}, []int{}, []int{}
	for g, size := range c.sizes {
		row := from[g]
		for b := row / c.bm; b*c.bm < row+size && size > 0; b++ {
			group, block = append(group, g), append(block, b)
		}
		from = append(from, row+size)
	}
	n := len(group)
	for len(group) < tile.Ceil(from[len(c.sizes)], c.bm)+len(c.sizes)-1 {
		group, block = append(group, group[n-1]), append(block, block[n-1])
	}
	return map[string][]int{"visits": {n}, "group": group, "block": block, "from": from}
}

// columns are log-sum-exps of columns, over blocks of rows, in powers of two; of
// all blocks but the last the index map stays inside the array by itself.
type columns struct{ m, n, bm, bn int }

func (columns) name() string      { return "columns" }
func (columns) rounding() float64 { return 16 * tile.Float32.Epsilon() }

func (c columns) programs() ([]*tile.Program, error) {
	t := tile.New("columns")
	blocks := tile.Ceil(c.m, c.bm)
	j, i := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel), t.Axis("i", blocks+1, tile.Arbitrary)
	zero := tile.Const(0)
	at := tile.AtLeast(tile.Plus(tile.AtMost(i, tile.Const(blocks)), tile.Const(-1)), zero)
	x := t.In("x", tile.Float32, tile.Array(c.m, c.n), tile.Block(c.bm, c.bn).At(at, j))
	o := t.Out("o", tile.Float32, tile.Array(1, c.n), tile.Block(1, c.bn).At(zero, j))
	top, sum := t.Scratch("top", tile.Float32, 1, c.bn), t.Scratch("sum", tile.Float32, 1, c.bn)
	t.When(i.First(), func() {
		t.Fill(top, -1e30)
		t.Fill(sum, 0)
	})
	t.When(tile.Test(i, tile.GT, zero), func() {
		masked := tile.Select(tile.InBounds(x, 0), x, tile.Number(-1e30))
		next := tile.Max(top, tile.ReduceMax(masked, 0))
		t.Store(sum, tile.Add(tile.Mul(sum, tile.Exp2(tile.Sub(top, next))), tile.ReduceSum(tile.Exp2(tile.Sub(masked, next)), 0)))
		t.Store(top, next)
	})
	t.When(i.Last(), func() { t.Store(o, tile.Add(tile.Mul(top, tile.Number(math.Ln2)), tile.Log(sum))) })
	return t.Programs()
}
