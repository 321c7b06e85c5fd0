package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// TestStacked: rows of few columns that are computed several at once are those of interp, in
// blocks that overhang too and at all distances of rows; what depends on a number of its row
// is computed row by row.
func TestStacked(t *testing.T) {
	const rows, bm, cols = 41, 20, 24 // the last block has one row
	f32 := func(x tile.Value) *tile.Expr { return tile.Cast(x, tile.Float32) }
	from := func(x tile.Value, start, n int) *tile.Expr { return tile.Slice(x, 1, tile.Const(start), n) }
	const half = cols / 2
	for _, c := range []struct {
		name  string
		of    func(x, y, w *tile.Ref) *tile.Expr // columns of o
		stack int
	}{
		{"sum", func(x, y, w *tile.Ref) *tile.Expr { return tile.Add(f32(x), f32(y)) }, plan.VectorLanes},
		{"columns side by side", func(x, y, w *tile.Ref) *tile.Expr {
			return tile.Concat(1, from(f32(x), half, half), from(f32(y), 0, 3), from(f32(x), 0, half-3))
		}, plan.VectorLanes},
		{"turned", func(x, y, w *tile.Ref) *tile.Expr {
			first, second, a, b := from(f32(x), 0, half), from(f32(x), half, half), from(f32(y), 0, half), from(f32(y), half, half)
			return tile.Concat(1, tile.Sub(tile.Mul(first, a), tile.Mul(second, b)), tile.Add(tile.Mul(second, a), tile.Mul(first, b)))
		}, plan.VectorLanes},
		{"the same product twice", func(x, y, w *tile.Ref) *tile.Expr {
			z := tile.Mul(f32(x), f32(y))
			return tile.Sub(tile.Add(z, z), tile.Mul(z, tile.Sub(z, f32(x))))
		}, bm},
		{"a row for all", func(x, y, w *tile.Ref) *tile.Expr { return tile.Add(tile.Mul(f32(x), f32(w)), f32(y)) }, plan.VectorLanes},
		{"parts of a sum", func(x, y, w *tile.Ref) *tile.Expr {
			z := tile.Add(f32(x), f32(w))
			return tile.Concat(1, tile.Neg(from(z, half, half)), from(from(z, 1, half+2), 1, half))
		}, bm},
		{"columns of a sum beside each other", func(x, y, w *tile.Ref) *tile.Expr {
			z := tile.Add(f32(x), f32(w))
			return tile.Add(z, tile.Concat(1, from(z, half, half), from(z, 0, half)))
		}, bm},
		{"halves of a sum", func(x, y, w *tile.Ref) *tile.Expr {
			z := tile.Add(f32(x), f32(w))
			return tile.Concat(1, tile.Sub(from(z, 0, half), from(z, half, half)), from(z, 0, 1), from(f32(y), 0, half-1))
		}, bm},
		{"less than the largest of its column", func(x, y, w *tile.Ref) *tile.Expr {
			z := tile.Select(tile.InBounds(x, 0), f32(x), tile.Number(0))
			return tile.Sub(z, tile.Broadcast(tile.ReduceMax(z, 0), bm, cols))
		}, 1},
		{"odd columns", func(x, y, w *tile.Ref) *tile.Expr {
			z := tile.Mul(tile.Cast(tile.Iota(1, bm, cols), tile.Float32), tile.Number(0.5))
			return tile.Select(tile.Compare(z, tile.EQ, tile.RoundEven(z)), tile.Neg(f32(y)), f32(x))
		}, bm},
		{"the number of a row", func(x, y, w *tile.Ref) *tile.Expr {
			return tile.Add(f32(x), tile.Cast(tile.Iota(0, bm, cols), tile.Float32))
		}, bm},
		{"where the larger is", func(x, y, w *tile.Ref) *tile.Expr {
			return tile.Select(tile.Compare(f32(x), tile.GT, f32(w)), f32(x), f32(y))
		}, bm},
		{"the largest of a row", func(x, y, w *tile.Ref) *tile.Expr { return tile.Add(f32(x), tile.RowMax(f32(y))) }, plan.VectorLanes},
	} {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			for _, wide := range []int{cols, 2 * cols} { // columns of the arrays: rows of blocks touch or do not
				for isa := gemm.Generic; isa <= gemm.AMX; isa++ {
					if len(isa.Missing()) > 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d/%s", c.name, d, wide, isa), func(t *testing.T) {
						b := tile.New("stacked")
						i, j, zero := b.Axis("i", tile.Ceil(rows, bm), tile.Parallel), b.Axis("j", tile.Ceil(wide, cols), tile.Parallel), tile.Const(0)
						block := tile.Block(bm, cols).At(i, j)
						x := b.In("x", d, tile.Array(rows, wide), block)
						y := b.In("y", d, tile.Array(rows, wide), block)
						w := b.In("w", d, tile.Array(1, wide), tile.Block(1, cols).At(zero, j))
						o := b.Out("o", d, tile.Array(rows, wide), block)
						b.Store(o, tile.Cast(c.of(x, y, w), d))
						programs, err := b.Programs()
						if err != nil {
							t.Fatal(err)
						}
						var in []tile.Tensor
						rng := rand.New(rand.NewPCG(6, 6))
						for _, r := range programs[0].RefsOf(tile.In) {
							v := tile.NewTensor(r.Dtype, r.Array...)
							for n := range v.Len() {
								v.Set(n, float64(rng.IntN(15)-7))
							}
							in = append(in, v)
						}
						be := open(t, Options{Threads: 2, ISA: isa.String()})()
						e, err := be.compile(context.Background(), programs, backend.Params{})
						if err != nil {
							t.Fatal(err)
						}
						defer e.Close()
						plan.AllSteps(e.Plans[0].Steps, func(s *plan.Step) {
							if s.Stmt != nil && s.Stmt.Ref == o && s.AtOnce != c.stack {
								t.Errorf("%d rows are computed at once, should be %d", s.AtOnce, c.stack)
							}
						})
						runsAsInterp(t, e, programs, in)
					})
				}
			}
		}
	}
}
