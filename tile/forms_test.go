package tile_test

import (
	"math"
	"testing"

	"matladder/tile"
)

// allForms has each form of index expression, condition and statement, an expression
// that is used twice, two loops of one name, and numbers that JSON has no digits for.
func allForms(t testing.TB) []*tile.Program {
	b := tile.New("everything")
	i, j := b.Axis("i", 6, tile.Parallel), (*tile.Axis)(nil)
	order := b.Table("order", 4)
	j = b.BoundedAxis("j", 4, tile.Arbitrary, order.At(tile.Const(3)))
	half := tile.FloorDiv(i, 2)
	x := b.In("x", tile.Float32, tile.Array(3, 8, 8), tile.Block(tile.Squeezed, 8, 8).At(order.At(half), tile.AtMost(tile.Mod(i, 1), tile.AtLeast(i, j)), tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(48, 8), tile.Block(8, 8).At(tile.Plus(tile.Times(half, 2), tile.Mod(i, 2)), tile.Const(0)))
	acc := b.Scratch("acc", tile.Float32, 8, 8)
	b.When(tile.All(j.First(), tile.Not(tile.Any(tile.Test(j, tile.GT, tile.Const(0))))), func() { b.Fill(acc, math.Inf(-1)) })
	for range 2 {
		b.Loop("l", 2, func(l *tile.Axis) {
			part := tile.Slice(x, 1, tile.Times(l, 4), 4)
			sum := tile.Add(part, tile.Exp(tile.Log(tile.Exp2(tile.Sub(part, tile.ReduceMax(part, 0))))))
			b.Accumulate(acc, tile.Concat(1, sum, tile.Mul(sum, tile.Number(math.Copysign(0, -1)))))
		})
	}
	b.StoreRows(acc, j, tile.Plus(j, tile.Const(2)), tile.ReduceSum(acc, 0))
	b.When(j.Last(), func() {
		b.Store(o, tile.Select(tile.Compare(acc, tile.GE, tile.Number(math.NaN())), acc, tile.Neg(tile.Dot(acc, x, tile.TransB, tile.AtPrecision(tile.Highest)))))
	})
	ps, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	return ps
}
