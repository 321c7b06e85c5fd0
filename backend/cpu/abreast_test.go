package cpu

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestAbreast: statements along the same rows go along them together where that
// changes nothing, and nowhere else: whatever is decided, values are those of interp, which rounds
// nothing in between: here nothing need be.
func TestAbreast(t *testing.T) {
	const m, n = 37, 70
	for name, c := range map[string]struct {
		together int
		write    func(t *tile.Builder, x, s, q *tile.Ref)
	}{
		"each row by its own": {2, func(t *tile.Builder, x, s, q *tile.Ref) {
			t.Store(s, tile.Max(tile.RowMax(tile.Abs(tile.Cast(x, tile.Float32))), tile.Number(0x1p-126)))
			t.Store(q, tile.Cast(tile.Mul(tile.Cast(x, tile.Float32), tile.Mul(tile.Number(0.5), s)), tile.Int8))
		}},
		"the product's arguments the other way round, moved": {2, func(t *tile.Builder, x, s, q *tile.Ref) {
			t.Store(s, tile.RowMax(tile.Abs(tile.Cast(x, tile.Float32))))
			by := tile.Mul(tile.Mul(tile.Number(0.5), s), tile.Cast(x, tile.Float32))
			t.Store(q, tile.Cast(tile.Add(s, tile.RoundEven(by)), tile.Int8))
		}},
		"by the first row": {0, func(t *tile.Builder, x, s, q *tile.Ref) {
			t.Store(s, tile.RowMax(tile.Cast(x, tile.Float32)))
			t.Store(q, tile.Cast(tile.Mul(tile.Cast(x, tile.Float32), tile.Slice(s, 0, tile.Const(0), 1)), tile.Int8))
		}},
		"the third writes what the second needs": {2, func(t *tile.Builder, x, s, q *tile.Ref) {
			t.Store(q, tile.Cast(tile.Cast(x, tile.Float32), tile.Int8))
			t.Store(s, tile.Cast(tile.RowMax(tile.Cast(q, tile.Int32)), tile.Float32))
			t.Store(q, tile.Cast(tile.Mul(tile.Cast(x, tile.Float32), tile.Number(2)), tile.Int8))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := tile.New("abreast")
			i, zero := b.Axis("i", tile.Ceil(m, 16), tile.Parallel), tile.Const(0)
			x := b.In("x", tile.BFloat16, tile.Array(m, n), tile.Block(16, n).At(i, zero))
			s := b.Out("s", tile.Float32, tile.Array(m, 1), tile.Block(16, 1).At(i, zero))
			q := b.Out("q", tile.Int8, tile.Array(m, n), tile.Block(16, n).At(i, zero))
			c.write(b, x, s, q)
			programs, err := b.Programs()
			if err != nil {
				t.Fatal(err)
			}
			in := tile.NewTensor(tile.BFloat16, m, n)
			rng := rand.New(rand.NewPCG(6, 6))
			for j := range in.Len() {
				if in.Set(j, float64(rng.IntN(160)-80)/4); rng.IntN(400) == 0 {
					in.Set(j, []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)])
				}
			}
			be := open(t, Options{Threads: 2})()
			e, err := be.compile(context.Background(), programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			together := 0
			for _, s := range e.Plans[0].Steps {
				if s.Kind == plan.StepRowLoop {
					together += len(s.Body)
				}
			}
			if together != c.together {
				t.Errorf("%d statements go along rows together, should be %d", together, c.together)
			}
			if err := e.Load(in); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Run(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			got := []tile.Tensor{tile.NewTensor(tile.Float32, m, 1), tile.NewTensor(tile.Int8, m, n)}
			if err := e.Results(got...); err != nil {
				t.Fatal(err)
			}
			want, err := interp.Run(context.Background(), programs, []tile.Tensor{in})
			if err != nil {
				t.Fatal(err)
			}
			for o := range want {
				for j := range want[o].Len() {
					if w, g := want[o].At(j), got[o].At(j); w != g && (w == w || g == g) {
						t.Fatalf("output %d: element %d is %v, should be %v", o, j, g, w)
					}
				}
			}
		})
	}
}
