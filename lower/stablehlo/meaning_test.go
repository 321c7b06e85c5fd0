package stablehlo_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
	"matladder/tile/tiletest"
)

// compare runs programs by interp and by their text, and compares.
func compare(t *testing.T, programs []*tile.Program, in []tile.Tensor) {
	t.Helper()
	want, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Skip(err) // not all random programs are right
	}
	l, err := stablehlo.Interpret(programs)
	if err != nil {
		t.Fatal(err)
	}
	var args []tensor
	for _, x := range in {
		args = append(args, fromTile(x))
	}
	got, err := newMachine(l.Once()).main(args)
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range want {
		if unlike(w, w, got[k]) < 0 {
			continue
		}
		lo, hi := steps(t, programs, in, k)
		for i, d := range cancellation(t, programs, in, k) {
			lo.Set(i, lo.At(i)-d)
			hi.Set(i, hi.At(i)+d)
		}
		if i := unlike(lo, hi, got[k]); i >= 0 {
			t.Fatalf("%s: element %d is %v, should be %v, %v to %v where a step is near or digits cancel", l.Out[k].Name, i, got[k].v[i], w.At(i), lo.At(i), hi.At(i))
		}
	}
}

// unlike is the first element of got that is not between lo and hi, -1 if there is
// none: integers exactly, floats within two of the roundings of their dtype and those
// of float32 on the way.
func unlike(lo, hi tile.Tensor, got tensor) int {
	scale := 0.0
	for i := range lo.Len() {
		for _, x := range []float64{math.Abs(lo.At(i)), math.Abs(hi.At(i))} {
			if x < math.Inf(1) {
				scale = max(scale, x)
			}
		}
	}
	for i := range lo.Len() {
		l, h, g := lo.At(i), hi.At(i), meant(lo.Dtype, got.v[i])
		bound := func(x float64) float64 {
			if lo.Dtype.IsInteger() || math.IsInf(x, 0) {
				return 0
			}
			return 2*lo.Dtype.Epsilon()*math.Abs(x) + 64*tile.Float32.Epsilon()*scale
		}
		if !(g >= l-bound(l) && g <= h+bound(h)) && !(l != l && g != g) {
			return i
		}
	}
	return -1
}

func randomInputs(programs []*tile.Program, seed uint64) []tile.Tensor {
	bound, err := tile.Bind(programs)
	if err != nil {
		panic(err)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	in := make([]tile.Tensor, len(bound.In))
	for k, r := range bound.In {
		in[k] = tile.NewTensor(r.Dtype, r.Array...)
		lo, hi := r.Dtype.Range()
		for i := range in[k].Len() {
			x := random.NormFloat64()
			if r.Dtype.IsInteger() {
				x = math.Floor(lo + (hi-lo+1)*random.Float64())
			}
			in[k].Set(i, x)
		}
	}
	return in
}

// TestKernels_Meaning: every rung, every dtype, ragged shapes.
func TestKernels_Meaning(t *testing.T) {
	run := thoroughtest.Choose(1, 3, 3)
	for _, shape := range [][3]int{{1, 1, 1}, {1, 7, 5}, {13, 1, 6}, {11, 17, 1}, {19, 13, 23}, {16, 8, 32}} {
		problems := []problem.Matmul{}
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			problems = append(problems, problem.New(shape[0], shape[1], shape[2], d))
		}
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			p := problem.New(shape[0], shape[1], shape[2], tile.Int8)
			p.Out, p.Quant = d, problem.PerTensor
			problems = append(problems, p)
		}
		for _, p := range problems {
			for _, k := range kernels.Ladder(problem.MatmulFamily) {
				if k.Supports(p) != nil {
					continue
				}
				blocks := k.Candidates(p, problem.Machine{Parallel: 3})
				if k.Number() > 2 {
					blocks = tile.Candidates(p.M, p.K, p.N, tile.Blocks{M: 8, K: 5, N: 7}, tile.Blocks{M: 8, K: 8, N: 8})
				}
				for _, b := range blocks {
					if !run() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s%s/%s", k.Name(), p, p.Quant, b), func(t *testing.T) {
						programs, err := k.Build(p, "", b)
						if err != nil {
							t.Fatal(err)
						}
						compare(t, programs, randomInputs(programs, 7))
					})
				}
			}
		}
	}
}

// TestSlices_Meaning: what no rung does.
func TestSlices_Meaning(t *testing.T) {
	programs := sliced(t)
	in := randomInputs(programs, 3)
	for i := range in[0].Len() {
		in[0].Set(i, float64(i))
	}
	compare(t, programs, in)
}

// TestCast_Meaning: every conversion between dtypes, at the ends of ranges and
// halfway between neighbours.
func TestCast_Meaning(t *testing.T) {
	values := []float64{0, 1, -1, 0.5, 1.5, -2.5, 3, 7.5, 127, 127.5, -128, -129, 200, 255.5, 447, 448, 464, 465, 500, 1 << 20,
		57344, 61439, 61440, 65536, 0x1p-9, 0x1p-10, 0x1.8p-10, 0x1p-16, 0x1p-17, 0x1.8p-17, 0x1.01p0, 0x1.03p0, 0x1.02p10,
		1<<24 + 1, 1<<31 - 1, 1 << 31, -1 << 31, -1 << 32, 0x1.010001p30, 0x1.01p30 + 1, 0x1.03p30 - 1, 1e30, -1e30,
		math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}
	for _, from := range tile.Dtypes() {
		for _, to := range tile.Dtypes() {
			t.Run(fmt.Sprint(from, " to ", to), func(t *testing.T) {
				b := tile.New("cast")
				spec := tile.Block(len(values)).At(tile.Const(0))
				x := b.In("x", from, tile.Array(len(values)), spec)
				o := b.Out("o", to, tile.Array(len(values)), spec)
				b.Store(o, tile.Cast(x, to))
				programs, err := b.Programs()
				if err != nil {
					t.Fatal(err)
				}
				in := tile.NewTensor(from, len(values))
				for i, v := range values {
					in.Set(i, v)
				}
				l, err := stablehlo.Interpret(programs)
				if err != nil {
					t.Fatal(err)
				}
				got, err := newMachine(l.Once()).main([]tensor{fromTile(in)})
				if err != nil {
					t.Fatal(err)
				}
				for i := range values {
					if g, w := meant(to, got[0].v[i]), to.Round(in.At(i)); g != w && (g == g || w == w) {
						t.Errorf("%v becomes %v, should be %v", in.At(i), g, w)
					}
				}
			})
		}
	}
}

// TestLoop_Meaning: a loop launches as often as it is told, and returns what one
// launch returns; without a round it returns zeros.
func TestLoop_Meaning(t *testing.T) {
	l, err := stablehlo.Baseline(problem.New(3, 4, 5, tile.Int8))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 0))
	args := []tensor{{elem: "i32", dims: []int{}, v: []float64{0}}}
	for _, a := range l.In {
		v := tensor{elem: elements[a.Dtype], dims: a.Shape}
		for range tile.Elements(a.Shape) {
			v.v = append(v.v, float64(random.IntN(256)-128))
		}
		args = append(args, v)
	}
	want, err := newMachine(l.Once()).main(args[1:])
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 4} {
		args[0].v[0] = float64(n)
		got, err := newMachine(l.Loop()).main(args)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want[0].v {
			if n == 0 {
				w = 0
			}
			if got[0].v[i] != w {
				t.Fatalf("%d rounds: element %d is %v, should be %v", n, i, got[0].v[i], w)
			}
		}
	}
}

// FuzzInterpret: whatever package tiletest makes of bytes means the same to
// interp and as text.
func FuzzInterpret(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 0))
	for range 150 / thoroughtest.OneIn(1, 3, 3) {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := tiletest.Random(data)
		if err != nil {
			t.Skip(err)
		}
		compare(t, []*tile.Program{p}, tiletest.Inputs(p, 1))
	})
}
