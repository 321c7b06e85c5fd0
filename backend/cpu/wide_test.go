package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// TestWide: rows of bfloat16 are widened once for several steps, and again where one of them
// has written them; the values are those of interp, here exact numbers.
func TestWide(t *testing.T) {
	const rows, bm, cols = 21, 8, 1100
	f32 := func(x tile.Value) *tile.Expr { return tile.Cast(x, tile.Float32) }
	for name, c := range map[string]struct {
		widened, past int // where o does not fit into caches
		write         func(t *tile.Builder, x, w, s, o *tile.Ref)
	}{
		"read twice, and a row for all": {1, 1, func(t *tile.Builder, x, w, s, o *tile.Ref) {
			t.Store(s, tile.Add(tile.RowMax(f32(x)), tile.RowMax(tile.Mul(f32(x), f32(w)))))
			t.Store(o, tile.Cast(tile.Add(tile.Mul(f32(x), f32(w)), s), tile.BFloat16))
		}},
		"a loop reads what is stored, and a row for all": {1, 1, func(t *tile.Builder, x, w, s, o *tile.Ref) {
			t.Store(s, tile.RowMax(f32(x)))
			t.Store(o, tile.Cast(tile.Mul(tile.Sub(f32(x), s), f32(w)), tile.BFloat16))
		}},
		"read once": {0, 0, func(t *tile.Builder, x, w, s, o *tile.Ref) {
			t.Store(s, tile.RowMax(f32(x)))
			t.Store(o, tile.Cast(tile.Mul(s, tile.Number(2)), tile.BFloat16))
		}},
		"written, then read twice": {1, 1, func(t *tile.Builder, x, w, s, o *tile.Ref) {
			t.Store(o, tile.Cast(tile.Mul(f32(x), tile.Number(0.5)), tile.BFloat16))
			least := t.Scratch("least", tile.Float32, bm, 1)
			t.Store(least, tile.RowMax(tile.Neg(f32(o))))
			t.Store(s, tile.Add(tile.RowMax(f32(o)), least))
		}},
		"written, then summed": {1, 2, func(t *tile.Builder, x, w, s, o *tile.Ref) {
			t.Store(o, tile.Cast(tile.Mul(f32(x), tile.Number(0.5)), tile.BFloat16))
			t.Store(s, tile.RowSum(tile.Mul(f32(o), f32(w))))
		}},
	} {
		for isa := gemm.Generic; isa <= 2*gemm.AMX; isa++ {
			isa, past := isa%(gemm.AMX+1), isa > gemm.AMX
			if len(isa.Missing()) > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%v", name, isa, past), func(t *testing.T) {
				if past { // the caches, which hold nothing; what is read again is kept instead
					defer func(f func() probe.HostInfo) { probe.Host = f }(probe.Host)
					host := probe.Host()
					host.L2 = 1024
					probe.Host = func() probe.HostInfo { return host }
				}
				b := tile.New("wide")
				i, zero := b.Axis("i", tile.Ceil(rows, bm), tile.Parallel), tile.Const(0)
				x := b.In("x", tile.BFloat16, tile.Array(rows, cols), tile.Block(bm, cols).At(i, zero))
				w := b.In("w", tile.BFloat16, tile.Array(1, cols), tile.Block(1, cols).At(zero, zero))
				s := b.Out("s", tile.Float32, tile.Array(rows, 1), tile.Block(bm, 1).At(i, zero))
				o := b.Out("o", tile.BFloat16, tile.Array(rows, cols), tile.Block(bm, cols).At(i, zero))
				c.write(b, x, w, s, o)
				programs, err := b.Programs()
				if err != nil {
					t.Fatal(err)
				}
				var in []tile.Tensor
				rng := rand.New(rand.NewPCG(4, 4))
				for _, r := range programs[0].RefsOf(tile.In) {
					y := tile.NewTensor(r.Dtype, r.Array...)
					for j := range y.Len() {
						y.Set(j, float64(rng.IntN(15)-7))
					}
					in = append(in, y)
				}
				be := open(t, Options{Threads: 2, ISA: isa.String()})()
				e, err := be.compile(context.Background(), programs, backend.Params{})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				widened := 0
				plan.AllSteps(e.Plans[0].Steps, func(s *plan.Step) {
					if widened += len(s.Widens); s.Keeps {
						widened++
					}
				})
				want := c.widened
				if past {
					want = c.past
				}
				if widened != want {
					t.Errorf("%d refs are widened ahead, should be %d", widened, want)
				}
				for launch := range 2 { // the row for all is another in the second
					in[len(in)-1].Set(3, float64(launch))
					runsAsInterp(t, e, programs, in)
				}
			})
		}
	}
}
