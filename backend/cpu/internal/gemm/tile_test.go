package gemm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// A twins is a tile in assembly beside the same in Go.
type twins[C Sum] struct {
	name       string
	isa        ISA
	mr, nr     int
	fast, twin tile[C]
	word       func(*rand.Rand) uint32
}

// smallFloat makes sums of thousands of products exact.
func smallFloat(r *rand.Rand) uint32 { return math.Float32bits(float32(r.IntN(17) - 8)) }

func anyBits(r *rand.Rand) uint32 { return r.Uint32() }

// bytePairs are what packing makes of bytes: int16 from -128 to 255.
func bytePairs(r *rand.Rand) uint32 {
	one := func() uint32 { return uint32(uint16(r.IntN(384) - 128)) }
	return one() | one()<<16
}

// bfloat16Pairs are of any size that forty products of do not overflow,
// denormal numbers and zeros among them: where roundings show their order.
func bfloat16Pairs(r *rand.Rand) uint32 {
	exponents := [...]int{0, 1, 1 + r.IntN(189), 55 + r.IntN(16), 125, 126, 127, 128}
	one := func() uint32 {
		return uint32(r.IntN(2)<<15 | exponents[r.IntN(len(exponents))]<<7 | r.IntN(128))
	}
	return one() | one()<<16
}

func testTile[C Sum](t *testing.T, x twins[C]) {
	t.Run(x.name, func(t *testing.T) {
		if missing := x.isa.Missing(); len(missing) > 0 {
			t.Skipf("this machine lacks %q", missing)
		}
		c := newTileCase(t, x)
		r := rand.New(rand.NewPCG(1, 2))
		for rows := 1; rows <= x.mr; rows++ {
			for cols := 1; cols <= x.nr; cols++ {
				c.check(r, rows, cols, 1+r.IntN(11), r.IntN(4))
			}
		}
		for steps := 1; steps <= maxSteps; steps++ {
			for options := range 4 {
				c.check(r, x.mr, x.nr, steps, options)
				c.check(r, 1+r.IntN(x.mr), 1+r.IntN(x.nr), steps, options)
			}
		}
	})
}

const maxSteps = 40

// tileCase holds the memory of one tile's test, so that thousands of checks
// share it.
type tileCase[C Sum] struct {
	testing.TB
	twins[C]
	a, b []uint32
	bias []C
	c    []C
}

func newTileCase[C Sum](t testing.TB, x twins[C]) *tileCase[C] {
	return &tileCase[C]{t, x,
		fenced[uint32](t, maxSteps*x.mr), fenced[uint32](t, maxSteps*x.nr), fenced[C](t, x.mr),
		fenced[C](t, (x.mr+1)*(x.nr+5))}
}

// check compares the whole memory of c after both tiles have run. Bit 0 of
// options accumulates, bit 1 gives a bias.
func (x *tileCase[C]) check(r *rand.Rand, rows, cols, steps, options int) {
	x.Helper()
	a, b := x.a[len(x.a)-steps*x.mr:], x.b[len(x.b)-steps*x.nr:]
	for _, words := range [][]uint32{a, b} {
		for i := range words {
			words[i] = x.word(r)
		}
	}
	ldc := cols + r.IntN(5)
	const guard = 7 // words in front of the corner
	c := x.c[len(x.c)-guard-((rows-1)*ldc+cols):]
	for _, sums := range [][]C{c, x.bias} {
		for i := range sums {
			sums[i] = C(r.IntN(2001) - 1000)
		}
	}
	accumulate := options&1 != 0
	var bias *C
	if options&2 != 0 {
		bias = &x.bias[0]
	}
	want := slices.Clone(c)
	a0, b0, bias0 := slices.Clone(a), slices.Clone(b), slices.Clone(x.bias)
	x.twin(&want[guard], ldc, steps, &a[0], &b[0], bias, 0, rows, cols, accumulate)
	x.fast(&c[guard], ldc, steps, &a[0], &b[0], bias, 0, rows, cols, accumulate)
	sameMemory(x, c, want, guard, "%s, %d×%d of %d steps, options %b, ldc %d", x.name, rows, cols, steps, options, ldc)
	if !slices.Equal(a, a0) || !slices.Equal(b, b0) || !slices.Equal(x.bias, bias0) {
		x.Fatalf("%s wrote to its inputs", x.name)
	}
}

// TestTile_Twins checks the twins themselves: the loop at type tile, written
// out.
func TestTile_Twins(t *testing.T) {
	pairs := func(s int32, a, b uint32) int32 {
		return s + int32(int16(a))*int32(int16(b)) + int32(int16(a>>16))*int32(int16(b>>16))
	}
	quads := func(s int32, a, b uint32) int32 {
		for u := 0; u < 32; u += 8 {
			s += int32(int8(a>>u)) * int32(uint8(b>>u))
		}
		return s
	}
	floats := func(s float32, a, b uint32) float32 {
		return s + math.Float32frombits(a)*math.Float32frombits(b)
	}
	testTile(t, twins[float32]{"float32", Generic, 6, 8, tileFloat32(6, 8), plainTile(6, 8, floats), smallFloat})
	testTile(t, twins[float32]{"bfloat16", Generic, 4, 8, tileBFloat16(4, 8), plainTile(4, 8, fusedPair), bfloat16Pairs})
	testTile(t, twins[int32]{"pairs", Generic, 4, 8, tilePairs(4, 8), plainTile(4, 8, pairs), bytePairs})
	testTile(t, twins[int32]{"quads", Generic, 4, 8, tileQuads(4, 8), plainTile(4, 8, quads), anyBits})
}

// fusedPair is addPair with sums as long as it takes, rounded once each.
func fusedPair(s float32, a, b uint32) float32 {
	for _, shift := range []int{16, 0} {
		x := flush(math.Float32frombits(a >> shift << 16))
		y := flush(math.Float32frombits(b >> shift << 16))
		sum := new(big.Float).SetPrec(600).SetFloat64(float64(x) * float64(y))
		s, _ = sum.Add(sum, new(big.Float).SetFloat64(float64(flush(s)))).Float32()
		s = flush(s)
	}
	return s
}

func plainTile[C Sum](mr, nr int, dot func(s C, a, b uint32) C) tile[C] {
	return func(c *C, ldc, steps int, a, b *uint32, bias *C, _ uintptr, rows, cols int, accumulate bool) {
		cv := span(c, (rows-1)*ldc+cols)
		for i := range rows {
			for j := range cols {
				var s C
				if bias != nil {
					s = span(bias, mr)[i]
				}
				for l := range steps {
					s = dot(s, span(a, steps*mr)[l*mr+i], span(b, steps*nr)[l*nr+j])
				}
				if accumulate {
					s += cv[i*ldc+j]
				}
				cv[i*ldc+j] = s
			}
		}
	}
}

// fencedWords are n words of a test's own kind, where fenced puts them.
func fencedWords(t testing.TB, r *rand.Rand, n int, word func(*rand.Rand) uint32) []uint32 {
	s := fenced[uint32](t, n)
	for i := range s {
		s[i] = word(r)
	}
	return s
}

// sameMemory compares all of c, whose matrix begins at guard, with what a twin wrote, NaN
// where it wrote one; the format tells the case.
func sameMemory[C Sum](t testing.TB, c, want []C, guard int, format string, args ...any) {
	t.Helper()
	for i := range c {
		if c[i] != want[i] && (c[i] == c[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d of c is %v, want %v", fmt.Sprintf(format, args...), i-guard, c[i], want[i])
		}
	}
}

// randomBias is nil, or what the sums of some rows start from.
func randomBias[C Sum](t testing.TB, r *rand.Rand, rows int) *C {
	if r.IntN(2) == 0 {
		return nil
	}
	sums := fenced[C](t, rows)
	for i := range sums {
		sums[i] = C(r.IntN(100))
	}
	return &sums[0]
}
