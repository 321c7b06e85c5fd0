package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/thoroughtest"
	"matladder/tile"
	"matladder/tile/interp"
)

// banding is a chain of steps along rows whose first chooses by a condition.
type banding struct {
	*tile.Builder
	i, j                      *tile.Axis
	q, k, v                   *tile.Ref
	x, top, next, sum, acc, o *tile.Ref
	lines                     *tile.Ref // a second output, of the sums
	bm, bk                    int
}

const bandRows, bandKeys, bandDim, bandWide = 210, 300, 8, 40

func newBanding(d tile.Dtype, bm, bk int) *banding {
	b := &banding{Builder: tile.New("banding"), bm: bm, bk: bk}
	zero := tile.Const(0)
	b.i, b.j = b.Axis("i", tile.Ceil(bandRows, bm), tile.Parallel), b.Axis("j", tile.Ceil(bandKeys, bk), tile.Arbitrary)
	b.q = b.In("q", d, tile.Array(bandRows, bandDim), tile.Block(bm, bandDim).At(b.i, zero))
	b.k = b.In("k", d, tile.Array(bandKeys, bandDim), tile.Block(bk, bandDim).At(b.j, zero))
	b.v = b.In("v", d, tile.Array(bandKeys, bandWide), tile.Block(bk, bandWide).At(b.j, zero))
	b.o = b.Out("o", tile.Float32, tile.Array(bandRows, bandWide), tile.Block(bm, bandWide).At(b.i, zero))
	b.lines = b.Out("lines", tile.Float32, tile.Array(bandRows, 1), tile.Block(bm, 1).At(b.i, zero))
	b.x, b.acc = b.Scratch("x", tile.Float32, bm, bk), b.Scratch("acc", tile.Float32, bm, bandWide)
	b.top, b.next, b.sum = b.Scratch("top", tile.Float32, bm, 1), b.Scratch("next", tile.Float32, bm, 1), b.Scratch("sum", tile.Float32, bm, 1)
	return b
}

// between is the condition lo ≤ column − row ≤ hi, of the array, inside it.
func (b *banding) between(lo, hi int) tile.Value {
	apart := tile.Sub(tile.Iota(1, b.bm, b.bk), tile.Iota(0, b.bm, b.bk))
	corner := tile.Plus(tile.Times(b.i, b.bm), tile.Times(b.j, -b.bk))
	at := func(n int) tile.Value { return tile.IndexValue(tile.Plus(corner, tile.Const(n))) }
	return tile.And(tile.InBoundsRow(b.k, 0), tile.And(tile.Compare(apart, tile.GE, at(lo)), tile.Compare(apart, tile.LE, at(hi))))
}

// write makes the program: scores that are y where cond does not hold, what of makes of them
// for each row, and products and sums of that.
func (b *banding) write(t *testing.T, cond tile.Value, y float64, of func(x, next *tile.Ref) *tile.Expr, more func()) []*tile.Program {
	t.Helper()
	b.When(b.j.First(), func() {
		b.Fill(b.top, -100)
		b.Fill(b.sum, 0)
		b.Fill(b.acc, 0)
	})
	b.Store(b.x, tile.Select(cond, tile.Mul(tile.Dot(b.q, b.k, tile.TransB), tile.Number(0.25)), tile.Number(y)))
	b.Store(b.next, tile.Max(b.top, tile.RowMax(b.x)))
	b.Store(b.x, of(b.x, b.next))
	shrink := tile.Exp2(tile.Sub(b.top, b.next))
	b.Store(b.sum, tile.Add(tile.Mul(b.sum, shrink), tile.RowSum(b.x)))
	b.Store(b.acc, tile.Add(tile.Mul(b.acc, shrink), tile.Dot(tile.Cast(b.x, b.v.Dtype), b.v)))
	b.Store(b.top, b.next)
	if more != nil {
		more()
	}
	b.When(b.j.Last(), func() {
		b.Store(b.o, b.acc)
		b.Store(b.lines, b.sum)
	})
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

func powers(x, next *tile.Ref) *tile.Expr { return tile.Exp2(tile.Sub(x, next)) }

// interpret returns what interp makes of inputs.
func interpret(t *testing.T, programs []*tile.Program, in []tile.Tensor) []tile.Tensor {
	t.Helper()
	want, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// compareBanding runs programs and compares with what interp makes of the inputs; it reports
// how many groups of steps have a band.
func compareBanding(t *testing.T, o Options, programs []*tile.Program, in, want []tile.Tensor) (bands int) {
	t.Helper()
	be := open(t, o)()
	e, err := be.compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	plan.AllSteps(e.Plans[0].Steps, func(s *plan.Step) {
		if s.Band != nil {
			bands++
		}
	})
	if err := e.Load(in...); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what one launch knows is nothing to the next
		if _, err := e.Run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
	}
	got := outputsOf(t, e, programs)
	within := map[tile.Dtype]float64{tile.Float32: 1e-4, tile.BFloat16: 1e-2}[in[0].Dtype]
	for n := range want {
		for i := range want[n].Len() {
			w, g := want[n].At(i), got[n].At(i)
			if near := math.Abs(w-g) <= within*math.Max(1, math.Abs(w)); !near && w != g && (w == w || g == g) {
				t.Fatalf("output %d: element %d is %v, should be %v", n, i, g, w)
			}
		}
	}
	return bands
}

// bandInputs are small numbers; odd puts infinities and NaNs among rows of one of them.
func bandInputs(rng *rand.Rand, d tile.Dtype, odd int) []tile.Tensor {
	in := []tile.Tensor{tile.NewTensor(d, bandRows, bandDim), tile.NewTensor(d, bandKeys, bandDim), tile.NewTensor(d, bandKeys, bandWide)}
	for n, x := range in {
		for i := range x.Len() {
			if x.Set(i, float64(rng.IntN(17)-8)/8); n == odd && rng.IntN(x.Len()/4) == 0 {
				x.Set(i, []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)])
			}
		}
	}
	return in
}

// TestBand: steps that leave columns out have the values of interp, whatever stands in those
// and in what they would be multiplied with.
func TestBand(t *testing.T) {
	bands, count := map[gemm.ISA]int{}, 60/thoroughtest.OneIn(1, 5, 23)
	for seed := range uint64(count) {
		rng := rand.New(rand.NewPCG(seed, 9))
		d := []tile.Dtype{tile.Float32, tile.BFloat16}[rng.IntN(2)]
		b := newBanding(d, []int{16, 35, 70}[rng.IntN(3)], []int{64, 160, 300}[rng.IntN(3)])
		lo := rng.IntN(400) - 200
		hi := lo + rng.IntN(200) - 20
		y := []float64{math.Inf(-1), math.Inf(-1), 0, 1, math.Inf(1), math.NaN()}[rng.IntN(6)]
		of := []func(x, next *tile.Ref) *tile.Expr{
			powers, powers,
			func(x, next *tile.Ref) *tile.Expr { return tile.Mul(tile.Max(x, tile.Number(0)), tile.Number(0.5)) },
			func(x, next *tile.Ref) *tile.Expr { return tile.Add(x, next) },
		}[rng.IntN(4)]
		odd := rng.IntN(6)
		programs, in := b.write(t, b.between(lo, hi), y, of, nil), bandInputs(rng, d, odd)
		want := interpret(t, programs, in)
		for _, isa := range gemm.Supported() {
			name := fmt.Sprintf("%s/%d: %s %d×%d, %d … %d, else %v, odd %d", isa, seed, d, b.bm, b.bk, lo, hi, y, odd)
			t.Run(name, func(t *testing.T) {
				bands[isa] += compareBanding(t, Options{Threads: 2, ISA: isa.String()}, programs, in, want)
			})
		}
	}
	for _, isa := range gemm.Supported() {
		if bands[isa] < count/2 { // of the others k or v is not packed
			t.Errorf("%s: %d of %d programs have a band", isa, bands[isa], count)
		}
		t.Logf("%s: %d of %d programs have a band", isa, bands[isa], count)
	}
}

// TestBand_Refused: steps go over all columns where something needs them.
func TestBand_Refused(t *testing.T) {
	apart := func(b *banding) tile.Value {
		return tile.Sub(tile.Iota(1, b.bm, b.bk), tile.Iota(0, b.bm, b.bk))
	}
	for name, c := range map[string]struct {
		cond func(b *banding) tile.Value
		of   func(x, next *tile.Ref) *tile.Expr
		more func(b *banding)
		want int
	}{
		"a window": {func(b *banding) tile.Value { return b.between(-20, 3) }, powers, nil, 1},
		"every column but one": {func(b *banding) tile.Value {
			return tile.And(tile.InBoundsRow(b.k, 0), tile.Compare(apart(b), tile.NE, tile.IndexValue(tile.Const(3))))
		}, powers, nil, 0},
		"a condition of scores": {func(b *banding) tile.Value {
			return tile.And(tile.InBoundsRow(b.k, 0), tile.Compare(tile.Dot(b.q, b.k, tile.TransB), tile.GT, tile.Number(0)))
		}, powers, nil, 0},
		"columns differ": {func(b *banding) tile.Value { return b.between(-20, 3) }, func(x, next *tile.Ref) *tile.Expr {
			return tile.Add(powers(x, next), tile.Cast(tile.Iota(1, x.Shape()[0], x.Shape()[1]), tile.Float32))
		}, nil, 0},
		"read behind the chain": {func(b *banding) tile.Value { return b.between(-20, 3) }, powers, func(b *banding) {
			b.When(b.j.Last(), func() { b.Store(b.sum, tile.Add(b.sum, tile.RowSum(b.x))) })
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBanding(tile.Float32, 16, 160)
			var more func()
			if c.more != nil {
				more = func() { c.more(b) }
			}
			programs := b.write(t, c.cond(b), math.Inf(-1), c.of, more)
			in := bandInputs(rand.New(rand.NewPCG(1, 1)), tile.Float32, -1)
			if bands := compareBanding(t, Options{Threads: 2}, programs, in, interpret(t, programs, in)); bands != c.want {
				t.Errorf("%d bands, should be %d", bands, c.want)
			}
		})
	}
}
