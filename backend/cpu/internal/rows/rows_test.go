package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"

	"matladder/internal/bfloat16"
	"matladder/tile"
)

// specials are what rounding can get wrong: ties of both parities, overflow to
// infinity, denormals, zeros and NaNs whose payload would round away.
var specials = []uint32{
	0, 1 << 31, 1, 0x7fff, 0x8000, 0x8001, 0x18000, 0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001,
	0x7f7fffff, 0x7f7f8000, 0x7f7f7fff, 0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7fc00000, 0x7fffffff, 0xffffffff,
}

func randomFloats(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if x[i] = math.Float32frombits(rng.Uint32()); rng.IntN(2) == 0 {
			x[i] = math.Float32frombits(specials[rng.IntN(len(specials))])
		}
	}
	return x
}

// TestNarrow compares with the definition of the language.
func TestNarrow(t *testing.T) {
	one := tile.NewTensor(tile.BFloat16, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		for _, x := range randomFloats(rng, 16) {
			one.Set(0, float64(x))
			if got, want := bfloat16.Widen(bfloat16.Round(x)), float32(one.At(0)); got != want && (got == got || want == want) {
				t.Fatalf("%x rounds to %v, should be %v", math.Float32bits(x), got, want)
			}
		}
	}
}

// TestSaturate compares with the definition of the language.
func TestSaturate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		for _, x := range append(randomFloats(rng, 16), float32(rng.IntN(600)-300)/2) {
			if got, want := float64(Saturate(x)), tile.Int8.Round(float64(x)); got != want {
				t.Fatalf("%v is %v, should be %v", x, got, want)
			}
			if x == x {
				if got, want := Generic.AbsMax([]float32{x}), float32(math.Abs(float64(x))); got != want {
					t.Fatalf("the magnitude of %v is %v", x, got)
				}
			}
		}
	}
}

// everyFor are the loops of all instruction sets of this machine, which has AVX2.
func everyFor() []Loops {
	all := []Loops{For(true, false)}
	if cpu.X86.HasAVX512F {
		all = append(all, For(true, true))
	}
	return all
}

// TestFor compares assembly with Go, for lengths around whole registers.
func TestFor(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("this machine lacks avx2")
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 70 {
		for range 20 {
			for _, fast := range everyFor() {
				checkFor(t, fast, rng, n)
			}
		}
	}
}

// checkFor compares the loops that have no numbers of their own, on rows of n.
func checkFor(t *testing.T, fast Loops, rng *rand.Rand, n int) {
	t.Helper()
	x, y := randomFloats(rng, n), randomFloats(rng, n)
	integers, narrow := make([]int32, n), make([]uint16, n)
	for i := range n {
		integers[i], narrow[i] = int32(rng.Uint32()), uint16(rng.Uint32())
	}
	floats := func(name string, f func(l Loops, dst []float32)) {
		want, got := make([]float32, n), make([]float32, n+1)
		got[n] = 42
		f(Generic, want)
		f(fast, got[:n])
		for i := range n {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%s of %d: element %d is %v, should be %v", name, n, i, got[i], want[i])
			}
		}
		if got[n] != 42 {
			t.Fatalf("%s of %d writes past the end", name, n)
		}
	}
	floats("Add", func(l Loops, dst []float32) { l.Add(dst, x, y) })
	floats("Sub", func(l Loops, dst []float32) { l.Sub(dst, x, y) })
	floats("Mul", func(l Loops, dst []float32) { l.Mul(dst, x, y) })
	floats("Max", func(l Loops, dst []float32) { l.Max(dst, x, y) })
	floats("Min", func(l Loops, dst []float32) { l.Min(dst, x, y) })
	cond := make([]bool, n)
	for i := range cond {
		cond[i] = rng.IntN(2) == 0
	}
	floats("Select", func(l Loops, dst []float32) { l.Select(dst, x, y, cond) })
	more := make([]int32, n)
	for i := range more {
		more[i] = int32(rng.Uint32())
	}
	ints := func(name string, f func(l Loops) func(dst, x, y []int32)) {
		want, got := make([]int32, n), make([]int32, n+1)
		got[n] = 42
		f(Generic)(want, integers, more)
		f(fast)(got[:n], integers, more)
		if want = append(want, 42); !slices.Equal(got, want) {
			t.Fatalf("%s of %d: %v, should be %v", name, n, got, want)
		}
	}
	ints("AddInt32", func(l Loops) func(dst, x, y []int32) { return l.AddInt32 })
	ints("SubInt32", func(l Loops) func(dst, x, y []int32) { return l.SubInt32 })
	ints("MulInt32", func(l Loops) func(dst, x, y []int32) { return l.MulInt32 })
	floats("FromInt32", func(l Loops, dst []float32) { l.FromInt32(dst, integers) })
	floats("FromBFloat16", func(l Loops, dst []float32) { l.FromBFloat16(dst, narrow) })
	bfloats := func(name string, f func(l Loops, dst []uint16)) {
		want, got := append([]uint16(nil), narrow...), append(append([]uint16(nil), narrow...), 42)
		f(Generic, want)
		f(fast, got[:n])
		for i := range n {
			w, g := bfloat16.Widen(want[i]), bfloat16.Widen(got[i])
			if want[i] != got[i] && (w == w || g == g) {
				t.Fatalf("%s of %d: element %d is %x, should be %x", name, n, i, got[i], want[i])
			}
		}
		if got[n] != 42 {
			t.Fatalf("%s of %d writes past the end", name, n)
		}
	}
	if n > 0 {
		want, got := Generic.AbsMax(x), fast.AbsMax(x)
		if want != got && (want == want || got == got) {
			t.Fatalf("AbsMax of %d is %v, should be %v", n, got, want)
		}
		wantLo, wantHi := Generic.Extremes(x)
		lo, hi := fast.Extremes(x)
		same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
		if !same(lo, wantLo) || !same(hi, wantHi) {
			t.Fatalf("Extremes of %v are %v and %v, should be %v and %v", x, lo, hi, wantLo, wantHi)
		}
	}
	bfloats("MulBFloat16", func(l Loops, dst []uint16) { l.MulBFloat16(dst, x) })
}

// TestFor_Codes compares assembly with Go where codes are near the ends of int8 and
// halves, and for numbers of every kind.
func TestFor_Codes(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("this machine lacks avx2")
	}
	fast := For(true, false)
	rng := rand.New(rand.NewPCG(3, 3))
	for n := range 200 {
		for range 20 {
			checkCodes(t, fast, rng, n)
		}
	}
}

// checkCodes compares those of int8.
func checkCodes(t *testing.T, fast Loops, rng *rand.Rand, n int) {
	t.Helper()
	x, narrow := randomFloats(rng, n), make([]uint16, n)
	odd := rng.IntN(2) * 4
	for i := range x {
		if rng.IntN(8) >= odd {
			x[i] = float32(rng.IntN(600)-300) / 2
		}
		narrow[i] = uint16(math.Float32bits(x[i]) >> 16)
	}
	by, zero := float32(1), float32(rng.IntN(256)-128)
	switch rng.IntN(8) {
	case 0, 1:
		by = rng.Float32()
	case 2:
		by = randomFloats(rng, 1)[0]
	case 3:
		by, zero = randomFloats(rng, 1)[0], randomFloats(rng, 1)[0]
	case 4, 5:
		zero = 0
	}
	codes := func(name string, f func(l Loops, dst []int8)) {
		want, got := make([]int8, n), make([]int8, n+2)
		got[0], got[n+1] = 42, 42
		f(Generic, want)
		f(fast, got[1:n+1])
		for i := range n {
			if got[i+1] != want[i] {
				t.Fatalf("%s of %d: %v (%x) by %v plus %v is %d, should be %d", name, n, x[i], narrow[i], by, zero, got[i+1], want[i])
			}
		}
		if got[0] != 42 || got[n+1] != 42 {
			t.Fatalf("%s of %d writes beyond", name, n)
		}
	}
	codes("ToInt8", func(l Loops, dst []int8) { l.ToInt8(dst, x, by, zero) })
	codes("BFloat16ToInt8", func(l Loops, dst []int8) { l.BFloat16ToInt8(dst, narrow, by, zero, rng.IntN(5000)) })
	if n > 0 {
		want, got := Generic.AbsMaxBFloat16(narrow), fast.AbsMaxBFloat16(narrow)
		if want != got && (want == want || got == got) {
			t.Fatalf("AbsMaxBFloat16 of %x is %v, should be %v", narrow, got, want)
		}
	}
}

// TestCubics compares assembly with Go.
func TestCubics(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("this machine lacks avx2")
	}
	fast := For(true, false)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 3000 {
		checkCubics(t, fast, rng, rng.IntN(40))
	}
}

func checkCubics(t *testing.T, fast Loops, rng *rand.Rand, n int) {
	t.Helper()
	c := Cubics{Table: make([][4]float64, 1+rng.IntN(20)), Lo: rng.NormFloat64(), PerStep: 1 + 3*rng.Float64()}
	for i := range c.Table {
		c.Table[i] = [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	}
	c.Last = c.Lo + (float64(len(c.Table))-0x1p-20)/c.PerStep
	x := make([]float32, n)
	for i := range x {
		if x[i] = float32(c.Lo - 0.1 + (c.Last-c.Lo+1)*rng.Float64()); rng.IntN(16) == 0 {
			x[i] = randomFloats(rng, 1)[0]
		}
	}
	want, got := make([]float32, n), make([]float32, n+1)
	got[n] = 42
	Generic.Cubics(want, x, &c)
	fast.Cubics(got[:n], x, &c)
	if !slices.EqualFunc(got[:n], want, func(a, b float32) bool { return a == b || a != a && b != b }) || got[n] != 42 {
		t.Fatalf("%v: %v, should be %v", x, got, want)
	}
}

// FuzzLoops compares all of them.
func FuzzLoops(f *testing.F) {
	if !cpu.X86.HasAVX2 {
		f.Skip("this machine lacks avx2")
	}
	for n := range uint16(70) {
		f.Add(uint64(n), n)
	}
	fast := For(true, false)
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		rng := rand.New(rand.NewPCG(seed, 6))
		for _, fast := range everyFor() {
			checkFor(t, fast, rng, int(n)%2000)
		}
		checkCodes(t, fast, rng, int(n)%2000)
		checkCubics(t, fast, rng, int(n)%2000)
	})
}
