package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// TestValues checks what the package comment says of values, on one row each.
func TestValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		in   tile.Dtype
		x, y []float64
		out  tile.Dtype
		f    func(x, y tile.Value) tile.Value
		want []float64
	}{
		{"int8 addition wraps", tile.Int8, []float64{127, -128, 5}, []float64{1, -1, 6}, tile.Int8,
			func(x, y tile.Value) tile.Value { return tile.Add(x, y) }, []float64{-128, 127, 11}},
		{"int32 product wraps", tile.Int32, []float64{1 << 30, 65537, -(1 << 31)}, []float64{4, 65537, -1}, tile.Int32,
			func(x, y tile.Value) tile.Value { return tile.Mul(x, y) }, []float64{0, 131073, -(1 << 31)}},
		{"int4 negation wraps", tile.Int4, []float64{-8, 7, 0}, []float64{0, 0, 0}, tile.Int4,
			func(x, _ tile.Value) tile.Value { return tile.Neg(x) }, []float64{-8, -7, 0}},
		{"uint8 subtraction wraps", tile.Uint8, []float64{3, 255, 0}, []float64{5, 254, 0}, tile.Uint8,
			func(x, y tile.Value) tile.Value { return tile.Sub(x, y) }, []float64{254, 1, 0}},
		{"row sum wraps in its dtype", tile.Int8, []float64{100, 100, 100}, []float64{0, 0, 0}, tile.Int8,
			func(x, _ tile.Value) tile.Value { return tile.RowSum(x) }, []float64{44, 44, 44}},
		{"cast to an integer saturates", tile.Float32, []float64{300, -2.5, 1.5}, []float64{0, 0, 0}, tile.Int8,
			func(x, _ tile.Value) tile.Value { return tile.Cast(x, tile.Int8) }, []float64{127, -2, 2}},
		{"float32 is not rounded before memory", tile.Float32, []float64{1, 1, 1}, []float64{0x1p-30, 0x1p-40, 0}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Sub(tile.Add(x, y), x) }, []float64{0x1p-30, 0x1p-40, 0}},
		{"cast rounds", tile.Float32, []float64{1.00390625, 1.01171875, 3}, []float64{0, 0, 0}, tile.Float32,
			func(x, _ tile.Value) tile.Value { return tile.Cast(tile.Cast(x, tile.BFloat16), tile.Float32) }, []float64{1, 1.015625, 3}},
		{"a constant is of its dtype", tile.BFloat16, []float64{1, 2, 0}, []float64{0, 0, 0}, tile.Float32,
			func(x, _ tile.Value) tile.Value { return tile.Cast(tile.Mul(x, tile.Number(0.1)), tile.Float32) }, []float64{0.10009765625, 0.2001953125, 0}},
		{"select", tile.Float32, []float64{1, 5, -3}, []float64{2, 4, -3}, tile.Float32,
			func(x, y tile.Value) tile.Value {
				either := tile.Or(tile.Compare(x, tile.GT, y), tile.Invert(tile.Compare(x, tile.NE, y)))
				return tile.Select(either, x, tile.Number(0))
			}, []float64{0, 5, -3}},
		{"min, max and abs", tile.Float32, []float64{1, 5, -3}, []float64{2, 4, -7}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Sub(tile.Abs(tile.Max(x, y)), tile.Min(x, y)) }, []float64{1, 1, 10}},
		{"NaN wins over infinity in max", tile.Float32, []float64{nan, inf, -inf}, []float64{inf, nan, 1}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Max(x, y) }, []float64{nan, nan, 1}},
		{"NaN wins over infinity in min", tile.Float32, []float64{nan, -inf, -inf}, []float64{-inf, nan, 1}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Min(x, y) }, []float64{nan, nan, -inf}},
		{"NaN wins in a row", tile.Float32, []float64{1, nan, 2}, []float64{0, 0, 0}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Add(tile.RowMax(x), y) }, []float64{nan, nan, nan}},
		{"NaN is unequal", tile.Float32, []float64{nan, 1, 0}, []float64{nan, nan, 0}, tile.Int8,
			func(x, y tile.Value) tile.Value { return tile.Cast(tile.Compare(x, tile.NE, y), tile.Int8) }, []float64{1, 1, 0}},
		{"zero times NaN and infinity", tile.Float32, []float64{0, 0, 0}, []float64{nan, inf, 7}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Mul(x, y) }, []float64{nan, nan, 0}},
		{"rsqrt", tile.Float32, []float64{0, 4, -1}, []float64{0, 0, 0}, tile.Float32,
			func(x, _ tile.Value) tile.Value { return tile.Rsqrt(x) }, []float64{inf, 0.5, nan}},
		{"concat and slice", tile.Int8, []float64{1, 2, 3}, []float64{4, 5, 6}, tile.Int8,
			func(x, y tile.Value) tile.Value {
				return tile.Slice(tile.Concat(0, x, y, x), 0, tile.Const(4), 3)
			}, []float64{5, 6, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("values")
			row := func() tile.BlockSpec { return tile.Block(3).At(tile.Const(0)) }
			x, y := b.In("x", c.in, tile.Array(3), row()), b.In("y", c.in, tile.Array(3), row())
			o := b.Out("o", c.out, tile.Array(3), row())
			b.Store(o, c.f(x, y))
			programs := must(t)(b.Programs())
			in := []tile.Tensor{tile.NewTensor(c.in, 3), tile.NewTensor(c.in, 3)}
			for i := range 3 {
				in[0].Set(i, c.x[i])
				in[1].Set(i, c.y[i])
			}
			out := run(t, programs, in...)[0]
			have := []float64{out.At(0), out.At(1), out.At(2)}
			if fmt.Sprint(have) != fmt.Sprint(c.want) { // so that NaN equals NaN
				t.Errorf("have %v, want %v", have, c.want)
			}
		})
	}
}
