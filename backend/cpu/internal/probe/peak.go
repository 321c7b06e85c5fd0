package probe

import (
	"context"
	"slices"
	"strings"
	"time"
)

// loopsOf are loops of some instruction sets on factors of some dtypes.
type loopsOf struct {
	isas, dtypes string
	has          bool // this processor, of what they need in addition to one of isas
	loops        []loop
}

// loops are those of an instruction set on factors of a dtype that run on this processor.
func loops(isa, dtype string) (list []loop) {
	if isa != "generic" && !has(isa) {
		return nil
	}
	of := func(names, name string) bool { return slices.Contains(strings.Fields(names), name) }
	for _, l := range append(ownLoops(), loopsOf{"generic", "float32 bfloat16", true, genericFloats}, loopsOf{"generic", "int8", true, genericInts}) {
		if l.has && of(l.isas, isa) && of(l.dtypes, dtype) {
			list = append(list, l.loops...)
		}
	}
	return list
}

// What Go's compiler makes of multiplications and additions: as products added to sums,
// which some processors fuse, and as chains apart.
var (
	genericFloats = []loop{
		{func(turns int) { products[float32](turns, 1, 2, 3, 4, 5) }, 8},
		{func(turns int) { chains[float32](turns, 1.000001, 0.001) }, 12},
	}
	genericInts = []loop{
		{func(turns int) { products[int32](turns, 1, 2, 3, 4, 5) }, 8},
		{func(turns int) { chains[int32](turns, 3, 5) }, 12},
	}
)

// products adds four products a turn, different ones, as equal ones would be computed once.
//
//go:noinline
func products[T float32 | int32](turns int, a0, a1, a2, a3, b T) T {
	var s0, s1, s2, s3 T
	for range turns {
		s0 += a0 * b
		s1 += a1 * b
		s2 += a2 * b
		s3 += a3 * b
	}
	return s0 + s1 + s2 + s3
}

// chains multiplies six numbers and adds to six others a turn.
//
//go:noinline
func chains[T float32 | int32](turns int, factor, term T) T {
	// Different starts: the compiler would merge equal chains.
	m0, m1, m2, m3, m4, m5 := T(1), T(2), T(3), T(4), T(5), T(6)
	s0, s1, s2, s3, s4, s5 := T(1), T(2), T(3), T(4), T(5), T(6)
	for range turns {
		m0 *= factor
		s0 += term
		m1 *= factor
		s1 += term
		m2 *= factor
		s2 += term
		m3 *= factor
		s3 += term
		m4 *= factor
		s4 += term
		m5 *= factor
		s5 += term
	}
	return m0 + m1 + m2 + m3 + m4 + m5 + s0 + s1 + s2 + s3 + s4 + s5
}

// budget is the time one measurement takes.
const budget = 15 * time.Millisecond

// A loop is register-only arithmetic of one kind.
type loop struct {
	run func(turns int)
	ops float64 // multiplications and additions in a turn
}

// PeakFLOPs measures the FLOP/s (OP/s for integers) that threads goroutines reach together by the
// fastest multiply-add of an instruction set: isa is "generic", "avx2", "avx512", "amx" or
// "neon", dtype "float32", "bfloat16" or "int8", the type of the factors. Sums are float32 and
// exact int32, as in the kernels. It is zero where isa or dtype is unknown, where this processor
// lacks it, and if ctx ends first.
//
// All goroutines compute at the same time, but each is judged by its own best run.
func PeakFLOPs(ctx context.Context, isa, dtype string, threads int) float64 {
	best := 0.0
	threads = min(max(1, threads), Host().Threads)
	loops := loops(isa, dtype)
	for _, l := range loops {
		turns := l.turnsFor(300 * time.Microsecond)
		sum, most := OwnRates(ctx, threads, budget/time.Duration(len(loops)), func(int) float64 {
			l.run(turns)
			return l.ops * float64(turns)
		})
		if ctx.Err() != nil {
			return 0
		}
		// Threads that share a core share its units.
		best = max(best, min(sum, most*float64(Host().Cores)))
	}
	return best
}

// turnsFor finds how many turns take about d; it also wakes the units up.
func (l loop) turnsFor(d time.Duration) int {
	for turns := 1 << 10; ; turns *= 2 {
		start := time.Now()
		l.run(turns)
		if time.Since(start) >= d || turns >= 1<<30 {
			return turns
		}
	}
}
