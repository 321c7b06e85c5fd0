package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
)

// dynamicQuant multiplies float32 rows by int8 weights in two programs: the
// first quantizes each row by its largest absolute value, the second multiplies
// integers and scales the sums. q and row_scale only pass between them.
type dynamicQuant struct{ m, k, n, bm, bk, bn int }

func (c dynamicQuant) programs() ([]*tile.Program, error) {
	quantize, err := c.quantize()
	if err != nil {
		return nil, err
	}
	multiply, err := c.multiply()
	return append(quantize, multiply...), err
}

func (c dynamicQuant) quantize() ([]*tile.Program, error) {
	t := tile.New("quantize_rows")
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	zero := tile.Const(0)

	// One block holds whole rows, rounded up to whole blocks of k.
	rows := tile.Block(c.bm, tile.Ceil(c.k, c.bk)*c.bk).At(i, zero)
	x := t.In("x", tile.Float32, tile.Array(c.m, c.k), rows)
	q := t.Out("q", tile.Int8, tile.Array(c.m, c.k), rows)
	scale := t.Out("row_scale", tile.Float32, tile.Array(c.m, 1), tile.Block(c.bm, 1).At(i, zero))

	size := tile.Select(tile.InBounds(x, 1), tile.Abs(x), tile.Number(0))
	t.Store(scale, tile.Div(tile.RowMax(size), tile.Number(127)))
	t.Store(q, tile.Cast(tile.RoundEven(tile.Div(x, scale)), tile.Int8))
	return t.Programs()
}

func (c dynamicQuant) multiply() ([]*tile.Program, error) {
	t := tile.New("int8_matmul")
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	zero := tile.Const(0)

	q := t.In("q", tile.Int8, tile.Array(c.m, c.k), tile.Block(c.bm, c.bk).At(i, k))
	w := t.In("w", tile.Int8, tile.Array(c.k, c.n), tile.Block(c.bk, c.bn).At(k, j))
	rowScale := t.In("row_scale", tile.Float32, tile.Array(c.m, 1), tile.Block(c.bm, 1).At(i, zero))
	colScale := t.In("col_scale", tile.Float32, tile.Array(1, c.n), tile.Block(1, c.bn).At(zero, j))
	o := t.Out("o", tile.Float32, tile.Array(c.m, c.n), tile.Block(c.bm, c.bn).At(i, j))
	acc := t.Scratch("acc", tile.Int32, c.bm, c.bn)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(q, w))
	t.When(k.Last(), func() {
		t.Store(o, tile.Mul(tile.Mul(tile.Cast(acc, tile.Float32), rowScale), colScale))
	})
	return t.Programs()
}

func TestDynamicQuant(t *testing.T) {
	for _, c := range []dynamicQuant{{9, 70, 14, 4, 32, 8}, {1, 64, 3, 1, 32, 2}, {16, 7, 5, 8, 8, 5}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.programs())
			bindings, err := tile.Bind(programs)
			if err != nil {
				t.Fatal(err)
			}
			if len(bindings.In) != 3 || len(bindings.Out) != 1 || len(bindings.Temp) != 2 {
				t.Fatalf("%d inputs, %d outputs, %d temporaries", len(bindings.In), len(bindings.Out), len(bindings.Temp))
			}
			in := inputs(t, programs)
			x, w, colScale := in[0], in[1], in[2]
			o := run(t, programs, in...)[0]
			for i := range c.m {
				var largest float64
				for l := range c.k {
					largest = math.Max(largest, math.Abs(element(x, i, l)))
				}
				scale := float64(float32(largest / 127))
				for j := range c.n {
					var exact, quantized, weights float64
					for l := range c.k {
						exact += element(x, i, l) * element(w, l, j)
						quantized += math.RoundToEven(element(x, i, l)/scale) * element(w, l, j)
						weights += math.Abs(element(w, l, j))
					}
					col := element(colScale, 0, j)
					got := element(o, i, j)
					near(t, got, quantized*scale*col, epsFloat32*math.Abs(got), i, j)
					// Quantization moves each x by half a step at most.
					near(t, got, exact*col, 1.01*weights*scale/2*math.Abs(col), i, j)
				}
			}
		})
	}
}
