package tiletest

import "matladder/tile"

// rowNumbers keeps numbers of rows in scratch of one column, and uses them in every way:
// beside wide blocks, narrow ones and each other, as conditions, in parts, reduced, stored.
type rowNumbers struct{ m, n, bm int }

func (rowNumbers) name() string      { return "row_numbers" }
func (rowNumbers) rounding() float64 { return 1e-5 }

func (c rowNumbers) programs() ([]*tile.Program, error) {
	t, zero := tile.New("row_numbers"), tile.Const(0)
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	wide, one := tile.Block(c.bm, c.n).At(i, zero), tile.Block(c.bm, 1).At(i, zero)
	x := t.In("x", tile.Float32, tile.Array(c.m, c.n), wide)
	y := t.In("y", tile.Float32, tile.Array(c.m, 1), one)
	o := t.Out("o", tile.Float32, tile.Array(c.m, c.n), wide)
	p := t.Out("p", tile.Float32, tile.Array(c.m, 1), one)
	top, sum := t.Scratch("top", tile.Float32, c.bm, 1), t.Scratch("sum", tile.Float32, c.bm, 1)
	pair := t.Scratch("pair", tile.Float32, c.bm, 2)

	t.Store(top, tile.Max(tile.RowMax(x), y))
	t.Fill(sum, 1)
	t.Accumulate(sum, tile.RowSum(tile.Exp2(tile.Sub(x, top))))
	t.Store(pair, tile.Concat(1, top, sum))
	less := tile.Compare(top, tile.LT, sum)
	t.Store(top, tile.Select(less, tile.Mul(top, y), tile.Neg(top)))
	t.Accumulate(top, tile.Concat(0, tile.Slice(sum, 0, tile.Const(c.bm/2), c.bm/2), tile.Slice(tile.Add(sum, top), 0, zero, c.bm/2)))
	t.Store(o, tile.Select(tile.Compare(top, tile.GT, sum), tile.Div(x, sum), tile.Add(x, tile.Mul(top, tile.Slice(pair, 1, tile.Const(1), 1)))))
	t.Store(p, tile.Add(tile.RowMax(tile.Mul(pair, top)), tile.RowSum(top)))
	return t.Programs()
}
