package matladder

import (
	"math"
	"testing"
)

// valueOfFloat16 is the number of a code by IEEE 754's definition of binary16.
func valueOfFloat16(code int) float64 {
	sign := 1 - 2*float64(code>>15)
	switch e, m := code>>10&31, float64(code&0x3FF)/1024; {
	case e == 31 && m > 0:
		return math.NaN()
	case e == 31:
		return math.Inf(int(sign))
	case e == 0:
		return sign * math.Ldexp(m, -14)
	default:
		return sign * math.Ldexp(1+m, e-15)
	}
}

// TestFloat16 reads every code and writes it again, and rounds what lies between two
// neighbours: the nearer one, of a tie the even one.
func TestFloat16(t *testing.T) {
	for code := range 1 << 16 {
		want := valueOfFloat16(code)
		have := Float16(code).Float32()
		if same := float64(have) == want && math.Signbit(float64(have)) == math.Signbit(want); !same && !(want != want && have != have) {
			t.Fatalf("%#04x is %v, want %v", code, have, want)
		}
		if again := ToFloat16(have); again != Float16(code) {
			t.Fatalf("%#04x, %v, becomes %#04x", code, have, again)
		}
		if code&0x7FFF >= 0x7C00 {
			continue
		}
		next := valueOfFloat16(code + 1)
		if math.IsInf(next, 0) { // as if there were one more
			next = math.Copysign(1<<16, want)
		}
		tie := float32((want + next) / 2)
		even := Float16(code + code&1)
		for x, want := range map[float32]Float16{
			tie:                         even,
			math.Nextafter32(tie, 0):    Float16(code),
			math.Nextafter32(have, tie): Float16(code),
			math.Nextafter32(tie, float32(math.Inf(1))*tie): Float16(code + 1),
		} {
			if got := ToFloat16(x); got != want {
				t.Fatalf("%v, between %#04x and the next, becomes %#04x, want %#04x", x, code, got, want)
			}
		}
	}
	for x, want := range map[float32]Float16{
		6.097555e-05: 0x03FF, 3e-8: 0x0001, 0x1p-25: 0, -0x1p-25: 0x8000, math.SmallestNonzeroFloat32: 0,
		65519.996: 0x7BFF, 65520: 0x7C00, -math.MaxFloat32: 0xFC00,
		math.Float32frombits(0x7F800001): 0x7C01, // a NaN whose payload is lost but stays one
	} {
		if got := ToFloat16(x); got != want {
			t.Errorf("%v becomes %#04x, want %#04x", x, got, want)
		}
	}
}
