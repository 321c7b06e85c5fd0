package cpu

import (
	"runtime"
	"testing"

	"golang.org/x/sys/cpu"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/seeded"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestRun_AllocatesNothing: launches make no garbage, which would be collected beside
// the next ones; not even where blocks overhang. The sums that products of int8 start
// from on VNNI, and the strips of AMX, are left out.
func TestRun_AllocatesNothing(t *testing.T) {
	if thoroughtest.Raced {
		t.Skip("the race detector drops what pools hold")
	}
	for isa := gemm.Generic; isa <= gemm.AVX2; isa++ {
		if missing := isa.Missing(); len(missing) > 0 {
			t.Logf("not tested on this machine, which lacks %v: %s", missing, isa)
			continue
		}
		be := open(t, Options{Threads: 2, ISA: isa.String()})()
		for _, operands := range []string{"float32", "bfloat16", "int8", "bfloat16xint4:per_block128", "mxfp4", "bfloat16xint8:per_channel+dynamic_token", "bfloat16xfloat8_e5m2:per_channel"} {
			if operands == "int8" && isa == gemm.AVX2 && cpu.X86.HasAVXVNNI {
				continue
			}
			for _, s := range [][2]int{{1, 150}, {7, 150}, {40, 150}, {70, 3}} {
				o, err := problem.MatmulFamily.Parse(operands)
				if err != nil {
					t.Fatal(err)
				}
				p := problem.MakeMatmul(problem.Sizes{s[0], 256, s[1], 1}, o)
				build := kernels.All[3].Build
				if p.Quant != "" {
					build = func(_ problem.Problem, variant string, b tile.Blocks) ([]*tile.Program, error) {
						return problemtest.Kernel(p).Build(p, variant, b)
					}
				}
				programs, err := build(p, "", tile.Blocks{M: s[0], K: 128, N: min(64, s[1])})
				if err != nil {
					t.Fatal(err)
				}
				if n := allocations(t, be, programs, p); n > 0 {
					t.Errorf("%s, %s, %s: %d allocations a launch", isa, operands, p.Shape(), n)
				}
			}
		}
	}
}

// allocations is how many a launch makes, on average, in the best of some tries: Go's
// scheduler allocates too, for goroutines that wait on one core and wake on another,
// until every core has a store of what such a wait needs. What launches allocate
// themselves, they do in each try.
func allocations(t *testing.T, be *Backend, programs []*tile.Program, p problem.Matmul) uint64 {
	t.Helper()
	e, err := be.Compile(t.Context(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := seeded.Of(e, programs, new(seeded.References)).LoadSeeded(t.Context(), backend.InputSpec{Problem: p, Seed: 1, Dist: "uniform"}); err != nil {
		t.Fatal(err)
	}
	made := func(launches int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Run(t.Context(), launches); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	made(1) // what pools keep
	const launches, tries = 40, 20
	least := uint64(launches)
	for range tries {
		one, many := made(1), made(1+launches)
		if least = min(least, (max(many, one)-one)/launches); least == 0 {
			break
		}
	}
	return least
}
