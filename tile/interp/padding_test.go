package interp_test

import (
	"context"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// TestPadding: what an output holds where its inputs overhang. x is 1 2 3 in a
// block of 4; it is cut after Verify, which is stricter about conditions.
func TestPadding(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(x *tile.Ref) tile.Value // of 4 elements
		want []float64
	}{
		{"a mask alone chooses",
			func(x *tile.Ref) tile.Value { return tile.Select(tile.InBounds(x, 0), x, tile.Number(9)) }, []float64{1, 2, 3, 9}},
		{"false and padding is false",
			func(x *tile.Ref) tile.Value {
				mask := tile.And(tile.Compare(x, tile.GE, tile.Number(2)), tile.InBounds(x, 0))
				return tile.Cast(mask, tile.Float32)
			}, []float64{0, 1, 1, 0}},
		{"true or padding is true",
			func(x *tile.Ref) tile.Value {
				mask := tile.Or(tile.Invert(tile.InBounds(x, 0)), tile.Compare(x, tile.GE, tile.Number(2)))
				return tile.Cast(mask, tile.Float32)
			}, []float64{0, 1, 1, 1}},
		{"a slice leaves it behind",
			func(x *tile.Ref) tile.Value {
				return tile.Concat(0, tile.Slice(x, 0, tile.Const(1), 2), tile.Slice(x, 0, tile.Const(0), 2))
			}, []float64{2, 3, 1, 2}},
		{"a masked row sum is good",
			func(x *tile.Ref) tile.Value {
				return tile.Add(tile.Iota(0, 4), tile.Cast(tile.RowSum(tile.Select(tile.InBounds(x, 0), x, tile.Number(0))), tile.Int32))
			}, []float64{6, 7, 8, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("padding")
			x := b.In("x", tile.Float32, tile.Array(4), tile.Block(4).At(tile.Const(0)))
			o := b.Out("o", tile.Float32, tile.Array(4), tile.Block(4).At(tile.Const(0)))
			b.Store(o, tile.Cast(c.f(x), tile.Float32))
			programs := must(t)(b.Programs())
			x.Array = tile.Array(3)
			in := tile.NewTensor(tile.Float32, 3)
			copy(in.Float32s(), []float32{1, 2, 3})
			out, err := interp.Run(context.Background(), programs, []tile.Tensor{in})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				near(t, out[0].At(i), want, 0, i)
			}
		})
	}
}

// TestPaddingThroughDot: padding of a row or column of one product is masked
// where a second product contracts over it.
func TestPaddingThroughDot(t *testing.T) {
	const n = 5
	zero := tile.Const(0)
	full := func(x *tile.Ref) *tile.Expr { return tile.Cast(tile.Iota(0, x.Shape()...), tile.Float32) }
	for _, c := range []struct {
		name    string
		product func(x, y, z *tile.Ref) *tile.Expr
	}{
		{"a alone overhangs", func(x, _, _ *tile.Ref) *tile.Expr { return tile.Dot(x, full(x)) }},
		{"b alone overhangs", func(x, _, _ *tile.Ref) *tile.Expr { return tile.Dot(full(x), x) }},
		{"columns of a transposed b alone", func(x, y, _ *tile.Ref) *tile.Expr {
			return tile.Dot(tile.Dot(x, y, tile.TransB), full(x))
		}},
		{"rows of a transposed a alone", func(x, y, _ *tile.Ref) *tile.Expr {
			return tile.Dot(full(x), tile.Dot(x, y, tile.TransA))
		}},
		{"columns of a transposed b", func(x, y, z *tile.Ref) *tile.Expr { return tile.Dot(tile.Dot(x, y, tile.TransB), z) }},
		{"rows of a transposed a", func(x, y, z *tile.Ref) *tile.Expr {
			return tile.Dot(tile.Dot(x, y, tile.TransA), z, tile.TransA)
		}},
		{"columns, then as a transposed b", func(x, y, z *tile.Ref) *tile.Expr {
			return tile.Dot(z, tile.Dot(x, y), tile.TransB)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBlocksOf := func(block int) []*tile.Program {
				b := tile.New("products")
				matrix := tile.Block(block, block).At(zero, zero)
				x := b.In("x", tile.Float32, tile.Array(n, n), matrix)
				y := b.In("y", tile.Float32, tile.Array(n, n), matrix)
				z := b.In("z", tile.Float32, tile.Array(n, n), matrix)
				o := b.Out("o", tile.Float32, tile.Array(n, n), matrix)
				b.Store(o, c.product(x, y, z))
				return must(t)(b.Programs())
			}
			ragged, whole := inBlocksOf(8), inBlocksOf(n)
			in := inputs(t, ragged)
			have, want := run(t, ragged, in...)[0], run(t, whole, in...)[0]
			for i := range n * n {
				near(t, have.At(i), want.At(i), 0, i/n, i%n)
			}
		})
	}
}
