package vexp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// fast are the loops of every instruction set of this machine.
func fast(t testing.TB) map[string]Loops {
	loops := map[string]Loops{"generic": Generic}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		loops["avx2"] = For(true, false)
	}
	if cpu.X86.HasAVX512F {
		loops["avx512"] = For(true, true)
	}
	if len(loops) == 0 {
		t.Skip("this machine lacks avx2")
	}
	return loops
}

// specials are arguments at the ends of ranges, halves between two powers, and no
// numbers.
var specials = []float32{
	0, float32(math.Copysign(0, -1)), 0.5, -0.5, 1.5, 2.5, -126, -126.5, -149, -149.5, -150, 127, 127.99999, 128, 200, 201, -200, -201, 88.72284,
	88.72283, -87.33655, -103.97, -104, 1e-45, -1e-45, 1e30, -1e30, math.MaxFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
}

func arguments(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch rng.IntN(8) {
		case 0:
			x[i] = specials[rng.IntN(len(specials))]
		case 1:
			x[i] = math.Float32frombits(rng.Uint32())
		default:
			x[i] = float32(rng.NormFloat64() * 40)
		}
	}
	return x
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s of %d: number %d is %v, in Go %v", what, len(want), i, g, w)
		}
	}
}

// compare holds the assembly to the loops in Go, to the bit, and what lies around the
// slices to what it was.
func compare(t *testing.T, name string, l Loops, x []float32, less float32) {
	t.Helper()
	const guard = 12345
	for op, loop := range map[string][2]func(dst, x []float32, less float32){"exp": {l.Exp, Generic.Exp}, "exp2": {l.Exp2, Generic.Exp2}} {
		got, want := make([]float32, len(x)+2), make([]float32, len(x))
		got[0], got[len(x)+1] = guard, guard
		loop[0](got[1:len(x)+1], x, less)
		loop[1](want, x, less)
		for i, w := range want {
			if g := got[i+1]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
				t.Fatalf("%s: %s(%v - %v) = %v, in Go %v", name, op, x[i], less, g, w)
			}
		}
		if got[0] != guard || got[len(x)+1] != guard {
			t.Fatalf("%s: %s of %d elements writes beyond them", name, op, len(x))
		}
	}
	lessOf := x[:min(max(1, len(x)/7), len(x))]
	n := len(x) - len(lessOf) // of rows that overlap
	for op, loop := range map[string][2]func(dst []float32, ldd int, x []float32, ldx int, less []float32, n int){
		"exp": {l.ExpRows, eachExp(Generic.Exp)}, "exp2": {l.Exp2Rows, eachExp(Generic.Exp2)},
	} {
		got, want := make([]float32, len(lessOf)*(n+3)), make([]float32, len(lessOf)*(n+3))
		loop[0](got, n+3, x, 1, lessOf, n)
		loop[1](want, n+3, x, 1, lessOf, n)
		sameBits(t, name+": rows of "+op, got, want)
	}
	for op, loop := range map[string][2]func(dst, x []float32, ldx, n int){
		"sums": {l.SumRows, eachOne(Generic.Sum)}, "the largest": {l.LargestRows, eachOne(Generic.Largest)},
	} {
		if n == 0 {
			continue
		}
		got, want := make([]float32, len(lessOf)+1), make([]float32, len(lessOf)+1)
		loop[0](got[:len(lessOf)], x, 1, n)
		loop[1](want[:len(lessOf)], x, 1, n)
		sameBits(t, name+": "+op, got, want)
	}
	if len(x) > 0 {
		if g, w := l.Largest(x), Generic.Largest(x); math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s: the largest of %v is %v, in Go %v", name, x, g, w)
		}
	}
	if g, w := l.Sum(x), Generic.Sum(x); math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
		t.Fatalf("%s: the sum of %d elements is %v, in Go %v", name, len(x), g, w)
	}
}

func TestFor(t *testing.T) {
	for name, l := range fast(t) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := range 100 {
			for range 20 {
				compare(t, name, l, arguments(rng, n), []float32{0, 1.25, -30, 0.1}[rng.IntN(4)])
			}
		}
	}
}

func FuzzFor(f *testing.F) {
	f.Add(uint64(1), uint8(40), float32(0.5))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, less float32) {
		for name, l := range fast(t) {
			compare(t, name, l, arguments(rand.New(rand.NewPCG(seed, 3)), int(n)), less)
		}
	})
}

// TestAccuracy measures the loops in Go against float64.
func TestAccuracy(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      func(float32) float32
		exact  func(float64) float64
		lo, hi float64
		ulps   float64
	}{
		{"exp2", exp2, math.Exp2, -126, 127, 1},
		{"exp", exp, math.Exp, -87, 88, 1.1},
		{"exp2 of denormal results", exp2, math.Exp2, -151, -126, 1},
		{"exp of denormal results", exp, math.Exp, -104, -87.4, 1},
	} {
		worst := 0.0
		const n = 400_000
		for i := range n {
			x := float32(c.lo + (c.hi-c.lo)*float64(i)/n)
			want, got := c.exact(float64(x)), c.f(x)
			ulp := math.Ldexp(1, max(math.Ilogb(max(want, 1e-300)), -126)-23)
			worst = max(worst, math.Abs(float64(got)-want)/ulp)
		}
		t.Logf("%s: %.3f units in the last place", c.name, worst)
		if !(worst <= c.ulps) {
			t.Errorf("%s: %.3f units in the last place, want %v", c.name, worst, c.ulps)
		}
	}
	if exp(0) != 1 || exp2(0) != 1 || exp2(-3) != 0.125 || exp2(10) != 1024 {
		t.Error("powers of two are not exact")
	}
}

// TestFMA compares with math/big's exact arithmetic rounded once.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		x, y, z := float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64()*math.Ldexp(1, rng.IntN(80)-40))
		if got, want := fma(x, y, z), bigFMA(x, y, z); got != want {
			t.Fatalf("%v·%v + %v = %v, want %v", x, y, z, got, want)
		}
	}
}

func BenchmarkRow(b *testing.B) {
	loops := map[string]Loops{"go": Generic}
	for name, l := range fast(b) {
		loops[name] = l
	}
	for name, l := range loops {
		x, y := arguments(rand.New(rand.NewPCG(1, 1)), 512), make([]float32, 512)
		for op, f := range map[string]func(){
			"exp": func() { l.Exp(y, x, 1) }, "exp2": func() { l.Exp2(y, x, 1) }, "sum": func() { l.Sum(x) },
		} {
			b.Run(fmt.Sprintf("%s/%s", name, op), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/element")
			})
		}
	}
}
