package tile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/tile"
)

// TestRound_BFloat16 compares with the usual rounding of float32 bit patterns:
// add half of what is dropped, less one if the kept part is even.
func TestRound_BFloat16(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 1 << 20 {
		bits := random.Uint32()
		if n < 1<<16 {
			bits = uint32(n)<<16 | 0x8000 // every tie
		}
		x := math.Float32frombits(bits)
		if x != x {
			continue
		}
		want := math.Float32frombits((bits + 0x7FFF + bits>>16&1) &^ 0xFFFF)
		if got := tile.BFloat16.Round(float64(x)); got != float64(want) {
			t.Fatalf("%x (%v): got %v, want %v", bits, x, got, want)
		}
	}
	// A float64 just above a tie, which rounding to float32 first would lose.
	if got := tile.BFloat16.Round(1 + 0x1p-8 + 0x1p-40); got != 1+0x1p-7 {
		t.Errorf("rounds twice: got %v", got)
	}
}

// ofp8 is a type of the OCP 8-bit floating point specification: the value of each
// code by the formula of its section on encodings, and the limits of its tables.
var ofp8 = []struct {
	dtype               tile.Dtype
	exponent, mantissa  int
	bias                int
	special             func(code int) (float64, bool) // infinities and NaN
	max, normal, denorm float64
}{
	{tile.Float8E4M3FN, 4, 3, 7, func(c int) (float64, bool) { return math.NaN(), c&0x7F == 0x7F }, 448, 0x1p-6, 0x1p-9},
	{tile.Float8E5M2, 5, 2, 15, func(c int) (float64, bool) {
		if c&0x7F == 0x7C {
			return math.Inf(1 - c>>7*2), true
		}
		return math.NaN(), c&0x7F > 0x7C
	}, 57344, 0x1p-14, 0x1p-16},
}

func TestFloat8_EveryCode(t *testing.T) {
	for _, f := range ofp8 {
		values := tile.Tensor{Dtype: f.dtype, Shape: []int{256}, Data: make([]byte, 256)}
		var max, normal, denorm float64 = 0, math.Inf(1), math.Inf(1)
		for c := range 256 {
			values.Data[c] = byte(c)
			sign := 1 - 2*float64(c>>7)
			e, m := c>>f.mantissa&(1<<f.exponent-1), float64(c&(1<<f.mantissa-1))
			want := sign * math.Pow(2, float64(e-f.bias)) * (1 + m/float64(int(1)<<f.mantissa))
			if e == 0 {
				want = sign * math.Pow(2, float64(1-f.bias)) * m / float64(int(1)<<f.mantissa)
			}
			v, special := f.special(c)
			if special {
				want = v
			}
			got := values.At(c)
			if got != want && (got == got || want == want) || math.Signbit(got) != math.Signbit(want) && want == want {
				t.Errorf("%s code %#x: got %v, want %v", f.dtype, c, got, want)
			}
			if special || c >= 128 {
				continue
			}
			max = math.Max(max, want)
			if e > 0 {
				normal = math.Min(normal, want)
			} else if want > 0 {
				denorm = math.Min(denorm, want)
			}
		}
		if max != f.max || normal != f.normal || denorm != f.denorm {
			t.Errorf("%s: limits %v, %v, %v; the specification has %v, %v, %v", f.dtype, max, normal, denorm, f.max, f.normal, f.denorm)
		}
		if _, hi := f.dtype.Range(); hi != f.max || f.dtype.SmallestNormal() != f.normal || f.dtype.Epsilon() != math.Pow(2, float64(-f.mantissa-1)) {
			t.Errorf("%s: Range, SmallestNormal or Epsilon differ from the specification", f.dtype)
		}
	}
}

// TestRound_Float8 looks for the nearest of all 256 codes, ties to the even one.
func TestRound_Float8(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, f := range ofp8 {
		var finite []float64 // by code, from 0 up
		all := tile.Tensor{Dtype: f.dtype, Shape: []int{128}, Data: make([]byte, 128)}
		for c := range 128 {
			all.Data[c] = byte(c)
			if v := all.At(c); v == v && !math.IsInf(v, 0) {
				finite = append(finite, v)
			}
		}
		top := len(finite) - 1
		beyond := 2*finite[top] - finite[top-1] // where the next code would be
		nearest := func(x float64) float64 {
			best := 0
			for c, v := range finite {
				d, old := math.Abs(v-x), math.Abs(finite[best]-x)
				if d < old || d == old && c%2 == 0 {
					best = c
				}
			}
			if d, old := math.Abs(beyond-x), math.Abs(finite[best]-x); d < old || d == old && top%2 == 1 {
				if f.dtype == tile.Float8E5M2 {
					return math.Inf(1)
				}
				return math.NaN()
			}
			return finite[best]
		}
		xs := []float64{0, 1e-30, 1e6, beyond}
		for c := 1; c <= top; c++ {
			middle := (finite[c-1] + finite[c]) / 2
			xs = append(xs, finite[c], middle, math.Nextafter(middle, 0), math.Nextafter(middle, 1e9))
		}
		middle := (finite[top] + beyond) / 2
		xs = append(xs, middle, math.Nextafter(middle, 0), math.Nextafter(middle, 1e9))
		for range 20000 {
			xs = append(xs, math.Exp2(random.Float64()*40-20))
		}
		for _, x := range xs {
			want := nearest(x)
			if got := f.dtype.Round(x); got != want && (got == got || want == want) {
				t.Errorf("%s: round %v: got %v, want %v", f.dtype, x, got, want)
			}
			if got := f.dtype.Round(-x); got != -want && (got == got || want == want) || x > 0 && got == got && !math.Signbit(got) {
				t.Errorf("%s: round %v: got %v, want %v", f.dtype, -x, got, -want)
			}
		}
	}
	if got := tile.Float8E5M2.Round(math.Inf(-1)); !math.IsInf(got, -1) {
		t.Errorf("float8_e5m2 loses its infinity: %v", got)
	}
	if got := tile.Float8E4M3FN.Round(math.Inf(1)); got == got {
		t.Errorf("float8_e4m3fn has no infinity, got %v", got)
	}
}

func TestRound_Integers(t *testing.T) {
	for _, c := range []struct {
		dtype  tile.Dtype
		lo, hi float64
	}{{tile.Int8, -128, 127}, {tile.Uint8, 0, 255}, {tile.Int4, -8, 7}, {tile.Int32, -1 << 31, 1<<31 - 1}} {
		for x := -300.0; x <= 300; x += 0.25 {
			var whole float64
			if _, err := fmt.Sscan(fmt.Sprintf("%.0f", x), &whole); err != nil { // the printer's own rounding, ties to even
				t.Fatal(err)
			}
			want := math.Min(math.Max(whole, c.lo), c.hi)
			if got := c.dtype.Round(x); got != want {
				t.Errorf("%s: round %v: got %v, want %v", c.dtype, x, got, want)
			}
		}
		for x, want := range map[float64]float64{math.Inf(1): c.hi, math.Inf(-1): c.lo, 1e20: c.hi, -1e20: c.lo} {
			if got := c.dtype.Round(x); got != want {
				t.Errorf("%s: round %v: got %v, want %v", c.dtype, x, got, want)
			}
		}
		if got := c.dtype.Round(math.NaN()); got != 0 {
			t.Errorf("%s: round NaN: got %v, want 0", c.dtype, got)
		}
	}
}
