package cpu

import (
	"fmt"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// TestScales: which values of a product tiles compute as they write it. All are
// those of vectors along rows to the bit, by non-temporal stores or not: sums of small
// integers are exact.
func TestScales(t *testing.T) {
	if missing := gemm.AMX.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	k := gemm.For(gemm.AMX)
	if k.Int8 != k.TilesInt8 || k.BFloat16 != k.TilesBFloat16 {
		t.Skip("tiles are not faster here")
	}
	type refs struct{ row, column, one, bias *tile.Ref }
	mul, add := tile.Mul, tile.Add
	for _, c := range []struct {
		name   string
		m      int
		value  func(x *tile.Expr, r refs) *tile.Expr
		scaled bool
	}{
		{"row, column", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(mul(x, r.row), r.column) }, true},
		{"row, column, bias", 96, func(x *tile.Expr, r refs) *tile.Expr { return add(mul(r.column, mul(x, r.row)), r.bias) }, true},
		{"row · one", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(x, mul(r.row, r.one)) }, true},
		{"one · column", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(x, mul(r.one, r.column)) }, true},
		{"one · one", 96, func(x *tile.Expr, r refs) *tile.Expr { return add(mul(x, mul(r.one, r.one)), r.one) }, true},
		{"one, column", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(mul(x, r.one), r.column) }, true},
		{"bias", 96, func(x *tile.Expr, r refs) *tile.Expr { return add(x, r.bias) }, true},
		{"column, row", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(mul(x, r.column), r.row) }, true},
		{"row, column, row, bias", 96, func(x *tile.Expr, r refs) *tile.Expr {
			return add(mul(mul(mul(x, tile.Min(r.row, r.one)), r.column), tile.Div(r.row, tile.Min(r.row, r.one))), r.bias)
		}, true},
		{"one, one, one", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(mul(mul(x, r.one), r.one), r.one) }, true},
		{"two columns", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(mul(mul(x, r.row), r.column), r.column) }, false},
		{"four factors", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(mul(mul(mul(x, r.row), r.column), r.row), r.row) }, false},
		{"bias of rows", 96, func(x *tile.Expr, r refs) *tile.Expr { return add(x, r.row) }, false},
		{"factors of the sum", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(add(x, r.bias), r.column) }, false},
		{"both in one", 96, func(x *tile.Expr, r refs) *tile.Expr { return mul(x, mul(r.row, r.column)) }, false},
		{"an activation", 96, func(x *tile.Expr, r refs) *tile.Expr { return tile.Relu(mul(x, r.column)) }, false},
		{"rows left over", 90, func(x *tile.Expr, r refs) *tile.Expr { return mul(x, r.column) }, false},
	} {
		for _, operands := range []tile.Dtype{tile.Int8, tile.BFloat16} {
			for _, out := range []tile.Dtype{tile.Float32, tile.BFloat16} {
				for _, past := range []bool{false, true} {
					t.Run(fmt.Sprint(c.name, " ", operands, " ", out, " ", past), func(t *testing.T) {
						b := tile.New("scaled")
						i, j, zero := b.Axis("i", 2, tile.Parallel), b.Axis("j", 3, tile.Parallel), tile.Const(0)
						const depth, n = 192, 3 * 64
						x := b.In("a", operands, tile.Array(2*c.m, depth), tile.Block(c.m, depth).At(i, zero))
						y := b.In("b", operands, tile.Array(depth, n), tile.Block(depth, 64).At(zero, j))
						r := refs{
							row:    b.In("row", tile.Float32, tile.Array(2*c.m, 1), tile.Block(c.m, 1).At(i, zero)),
							column: b.In("column", tile.Float32, tile.Array(1, n), tile.Block(1, 64).At(zero, j)),
							one:    b.In("one", tile.Float32, tile.Array(1, 1), tile.Block(1, 1).At(zero, zero)),
							bias:   b.In("bias", tile.Float32, tile.Array(1, n), tile.Block(1, 64).At(zero, j)),
						}
						o := b.Out("o", out, tile.Array(2*c.m, n), tile.Block(c.m, 64).At(i, j))
						b.Store(o, tile.Cast(c.value(tile.Cast(tile.Dot(x, y), tile.Float32), r), out))
						programs, err := b.Programs()
						if err != nil {
							t.Fatal(err)
						}
						if past {
							defer func(f func() probe.HostInfo) { probe.Host = f }(probe.Host)
							host := probe.Host()
							host.L2 = 1024
							probe.Host = func() probe.HostInfo { return host }
						}
						p, err := passes.Compile(programs[0], plan.Machine{Kernels: k, Workers: 1, CacheBytes: 1 << 20, OwnBytes: 1 << 20})
						if err != nil {
							t.Fatal(err)
						}
						d := p.Steps[0].Dots[0]
						if scaled := d.Scales != nil; scaled != c.scaled || scaled && (d.Write == gemm.WriteNonTemporal) != past {
							t.Errorf("scaled %v, non-temporal %v; want %v, %v", scaled, d.Write == gemm.WriteNonTemporal, c.scaled, past)
						}
						inputs := tiletest.Inputs(programs[0], 7)
						for _, s := range inputs[2:] {
							for e := range s.Len() {
								s.Set(e, s.At(e)*0.37+float64(e)*1.01)
							}
						}
						same(t, outputs(t, Options{Threads: 2, ISA: "generic"}, programs, inputs), outputs(t, Options{Threads: 2, ISA: "amx"}, programs, inputs))
					})
				}
			}
		}
	}
}
