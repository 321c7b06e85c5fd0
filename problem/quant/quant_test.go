package quant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/problem/quant/quanttest"
	"matladder/tile"
)

var formats = []struct {
	d          tile.Dtype
	asymmetric bool
}{
	{tile.Int8, false}, {tile.Int8, true}, {tile.Int4, false}, {tile.Int4, true},
	{tile.Float8E4M3FN, false}, {tile.Float8E5M2, false},
}

// check compares one group with what float64 arithmetic says of it.
func check(t *testing.T, xs []float32, d tile.Dtype, asymmetric bool) {
	t.Helper()
	lo, hi := quant.Extremes(xs)
	s := quant.Fit(lo, hi, d, quant.Grouping{Asymmetric: asymmetric})
	var least, most float64
	for _, x := range xs {
		least, most = math.Min(least, float64(x)), math.Max(most, float64(x))
	}
	if damaged := math.IsNaN(least) || math.IsNaN(most) || math.IsInf(float64(float32(most-least)), 0); damaged {
		if s.Scale == s.Scale && !math.IsInf(float64(s.Scale), 1) && asymmetric || math.IsNaN(least) != (s.Scale != s.Scale) {
			t.Errorf("%s of %v … %v: %+v", d, least, most, s)
		}
		return
	}
	bottom, top := d.Range()
	step := math.Max(-least, most) / top
	if asymmetric {
		step = (most - least) / (top - bottom)
	}
	step = math.Max(step, quant.Smallest)
	const u = 0x1p-24
	if e := math.Abs(float64(s.Scale)-step) / step; e > 3*u {
		t.Errorf("%s of %v … %v: scale %v, should be %v", d, least, most, s.Scale, step)
	}
	for _, x := range xs {
		code := s.Quantize(x)
		if code != d.Round(code) || !asymmetric && math.Abs(code) > top {
			t.Errorf("%s: %v is no code", d, code)
		}
		// Half the distance between codes, and what float32 arithmetic adds: a few
		// roundings of a number of at most top-bottom steps.
		limit := 0.5*step + 8*u*(most-least)
		if d.IsFloat() {
			limit = 0.5*step*ulp(d, float64(x)/step) + 8*u*math.Abs(float64(x))
		}
		if e := math.Abs(s.Real(code) - float64(x)); !(e <= limit*(1+8*u)) {
			t.Errorf("%s, %+v: %v stands for %v, %v away; at most %v", d, s, x, s.Real(code), e, limit)
		}
	}
}

// ulp is the distance between the codes of d around x.
func ulp(d tile.Dtype, x float64) float64 {
	_, exp := math.Frexp(math.Max(math.Abs(x), d.SmallestNormal()))
	return math.Ldexp(2*d.Epsilon(), exp-1) * 2 // x may be rounded up to the next power of two
}

func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats {
		for n := range 500 {
			xs := make([]float32, 1+rng.IntN(20))
			size := math.Ldexp(1, rng.IntN(250)-125)
			for i := range xs {
				xs[i] = float32((rng.Float64() - 0.4) * size)
				if n%5 == 0 && rng.IntN(3) == 0 {
					xs[i] = 0
				}
			}
			check(t, xs, f.d, f.asymmetric)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(float32(1), float32(-2), float32(0.5), uint8(0))
	f.Add(float32(0), float32(0), float32(0), uint8(1))
	f.Add(float32(math.MaxFloat32), float32(-math.MaxFloat32), float32(1), uint8(3))
	f.Add(float32(math.NaN()), float32(1), float32(2), uint8(2))
	f.Add(float32(0x1p-149), float32(0), float32(0x1p-130), uint8(4))
	f.Fuzz(func(t *testing.T, x, y, z float32, format uint8) {
		c := formats[int(format)%len(formats)]
		check(t, []float32{x, y, z}, c.d, c.asymmetric)
	})
}

// TestQuantize_Ties has scales that are powers of two, so that halves are exact.
func TestQuantize_Ties(t *testing.T) {
	for _, test := range []struct {
		s    quant.Step
		x    float32
		want float64
	}{
		{quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, 0.25, 0}, {quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, 0.75, 2}, {quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, -0.25, 0},
		{quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, -0.75, -2}, {quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, 1.25, 2}, {quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, 100, 127},
		{quant.Step{Scale: 0.5, Zero: 0, Dtype: tile.Int8}, -100, -128}, {quant.Step{Scale: 2, Zero: 0, Dtype: tile.Int4}, 7, 4}, {quant.Step{Scale: 2, Zero: 0, Dtype: tile.Int4}, -13, -6},
		{quant.Step{Scale: 2, Zero: -3, Dtype: tile.Int4}, 1, -3}, {quant.Step{Scale: 2, Zero: -3, Dtype: tile.Int4}, 3, -1},
		{quant.Step{Scale: 1, Zero: 0, Dtype: tile.Float8E4M3FN}, 17, 16}, {quant.Step{Scale: 1, Zero: 0, Dtype: tile.Float8E4M3FN}, 19, 20}, {quant.Step{Scale: 1, Zero: 0, Dtype: tile.Float8E4M3FN}, 1000, 448},
		{quant.Step{Scale: 1, Zero: 0, Dtype: tile.Float8E5M2}, 9, 8}, {quant.Step{Scale: 1, Zero: 0, Dtype: tile.Float8E5M2}, 11, 12}, {quant.Step{Scale: 1, Zero: 0, Dtype: tile.Float8E5M2}, -1e9, -57344},
	} {
		if got := test.s.Quantize(test.x); got != test.want {
			t.Errorf("%+v of %v: %v, want %v", test.s, test.x, got, test.want)
		}
	}
}

// TestQuantize_Rows has the rows that the package doc defines.
func TestQuantize_Rows(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	rows := map[string]struct {
		x    [3]float32
		real [3]float64 // NaN stands for anything that is not finite
	}{
		"zeros":      {[3]float32{0, 0, 0}, [3]float64{0, 0, 0}},
		"equal":      {[3]float32{-2.54, -2.54, -2.54}, [3]float64{-2.54, -2.54, -2.54}},
		"one sign":   {[3]float32{0, 127, 0}, [3]float64{0, 127, 0}},
		"nan":        {[3]float32{1, nan, 2}, [3]float64{math.NaN(), math.NaN(), math.NaN()}},
		"infinite":   {[3]float32{1, inf, 2}, [3]float64{math.NaN(), math.NaN(), math.NaN()}},
		"- infinite": {[3]float32{-inf, 0, 3}, [3]float64{math.NaN(), math.NaN(), math.NaN()}},
	}
	for name, row := range rows {
		for _, f := range formats {
			x := tile.NewTensor(tile.Float32, 1, 3)
			copy(x.Float32s(), row.x[:])
			m, err := quanttest.Quantize(x, f.d, quant.Grouping{Grain: problem.Token, Asymmetric: f.asymmetric})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range row.real {
				got := m.At(0, i)
				finite := !math.IsNaN(got) && !math.IsInf(got, 0)
				if want != want && finite || want == want && math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s, %s, asymmetric %v: element %d stands for %v, want %v", name, f.d, f.asymmetric, i, got, want)
				}
			}
		}
	}
}

// TestQuantize compares the groups of a matrix with groups picked by hand.
func TestQuantize(t *testing.T) {
	const rows, cols = 7, 5
	rng := rand.New(rand.NewPCG(3, 4))
	x := tile.NewTensor(tile.BFloat16, rows, cols)
	for i := range x.Len() {
		x.Set(i, rng.NormFloat64()*float64(1+i))
	}
	members := map[problem.Grain]func(row, col int) func(r, c int) bool{
		problem.Tensor:  func(int, int) func(int, int) bool { return func(int, int) bool { return true } },
		problem.Channel: func(_, col int) func(int, int) bool { return func(_, c int) bool { return c == col } },
		problem.Token:   func(row, _ int) func(int, int) bool { return func(r, _ int) bool { return r == row } },
		problem.Block: func(row, col int) func(int, int) bool {
			return func(r, c int) bool { return c == col && r/3 == row/3 }
		},
	}
	for grain, of := range members {
		for _, f := range formats {
			m, err := quanttest.Quantize(x, f.d, quant.Grouping{Grain: grain, Block: 3, Asymmetric: f.asymmetric})
			if err != nil {
				t.Fatal(err)
			}
			for row := range rows {
				for col := range cols {
					var group []float32
					for r := range rows {
						for c := range cols {
							if of(row, col)(r, c) {
								group = append(group, float32(x.At(r*cols+c)))
							}
						}
					}
					lo, hi := quant.Extremes(group)
					s := quant.Fit(lo, hi, f.d, quant.Grouping{Asymmetric: f.asymmetric})
					if want := s.Real(s.Quantize(float32(x.At(row*cols + col)))); m.At(row, col) != want {
						t.Errorf("%s %s: element (%d, %d) stands for %v, want %v", grain, f.d, row, col, m.At(row, col), want)
					}
				}
			}
		}
	}
	for _, bad := range []func() error{
		func() error {
			_, err := quanttest.Quantize(x, tile.Int32, quant.Grouping{Grain: problem.Tensor})
			return err
		},
		func() error {
			_, err := quanttest.Quantize(x, tile.Float8E5M2, quant.Grouping{Grain: problem.Tensor, Asymmetric: true})
			return err
		},
		func() error { _, err := quanttest.Quantize(x, tile.Int8, quant.Grouping{}); return err },
		func() error {
			_, err := quanttest.Quantize(x, tile.Int8, quant.Grouping{Grain: problem.Block})
			return err
		},
		func() error {
			_, err := quanttest.Quantize(tile.NewTensor(tile.Int8, 2, 2), tile.Int8, quant.Grouping{Grain: problem.Tensor})
			return err
		},
		func() error {
			_, err := quanttest.Quantize(tile.NewTensor(tile.Float32, 2), tile.Int8, quant.Grouping{Grain: problem.Tensor})
			return err
		},
	} {
		if bad() == nil {
			t.Error("a bad call is accepted")
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, test := range []struct {
		got, want []float64
		is        quant.Error
	}{
		{[]float64{3, 4}, []float64{3, 4}, quant.Error{Rel: 0, Max: 0, SNRdB: math.Inf(1)}},
		{[]float64{3, 4.5}, []float64{3, 4}, quant.Error{Rel: 0.1, Max: 0.5, SNRdB: 20}},
		{[]float64{0, 1}, []float64{0, 0}, quant.Error{Rel: math.Inf(1), Max: 1, SNRdB: math.Inf(-1)}},
		{nil, nil, quant.Error{Rel: 0, Max: 0, SNRdB: math.Inf(1)}},
	} {
		if got := quanttest.Measure(test.got, test.want); fmt.Sprintf("%.9g", got) != fmt.Sprintf("%.9g", test.is) {
			t.Errorf("%v against %v: %+v, want %+v", test.got, test.want, got, test.is)
		}
	}
	if e := quanttest.Measure([]float64{math.NaN()}, []float64{1}); e.Rel == e.Rel || e.SNRdB == e.SNRdB || e.Max == e.Max {
		t.Errorf("a NaN: %+v", e)
	}
	var a, b quant.Sum
	a.Add(3, 3)
	b.Add(4.5, 4)
	if a.Join(b); a.Error() != quanttest.Measure([]float64{3, 4.5}, []float64{3, 4}) {
		t.Errorf("joined: %+v", a.Error())
	}
}
