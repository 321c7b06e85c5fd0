package check

import (
	"fmt"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
	"matladder/tile/interp"
)

// exactProblems are those of which there are probes: plain, then quantized.
func exactProblems(batch, m, k, n int) []problem.Matmul {
	var all []problem.Matmul
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Float16, tile.Int8} {
		p := problem.New(m, k, n, d)
		p.Batch = batch
		all = append(all, p)
		for _, out := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			if p := p; d.IsFloat() && p.Out != out {
				p.Out = out
				all = append(all, p)
			}
		}
	}
	return append(all, problemtest.Quantized(batch, m, k, n, 32)...)
}

// TestExact_Interpreter holds the interpreter to the answers, whatever the kernel, the
// blocks and the size.
func TestExact_Interpreter(t *testing.T) {
	run := thoroughtest.Choose(1, 7, 29)
	for _, s := range []struct {
		batch, m, k, n int
		blocks         []tile.Blocks
	}{
		{1, 1, 1, 1, []tile.Blocks{{M: 1, K: 1, N: 1}}},
		{1, 3, 2, 5, []tile.Blocks{{M: 2, K: 1, N: 3}}},
		{1, 1, 300, 9, []tile.Blocks{{M: 1, K: 128, N: 9}}},
		{1, 40, 70, 33, []tile.Blocks{{M: 16, K: 32, N: 16}, {M: 40, K: 8, N: 33}}},
		{3, 17, 150, 11, []tile.Blocks{{M: 8, K: 64, N: 8}}},
		{1, 24, 2100, 18, []tile.Blocks{{M: 24, K: 128, N: 18}}},
	} {
		for _, p := range exactProblems(s.batch, s.m, s.k, s.n) {
			for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
				if kernel.Supports(p) != nil {
					continue
				}
				for _, variant := range kernel.Variants(p) {
					for _, b := range s.blocks {
						if kernel.Number() < 4 {
							b = kernel.Candidates(p, problem.Machine{Parallel: 2})[0]
						}
						for _, dist := range []string{Exact, ExactNarrow} {
							if !run() {
								continue
							}
							t.Run(fmt.Sprintf("%s%s/%s/%v/%s", kernel.Name(), variant, problemtest.Label(p), b, dist), func(t *testing.T) {
								programs, err := kernel.Build(p, variant, b)
								if err != nil {
									t.Fatal(err)
								}
								holdsExactly(t, p, programs, dist)
							})
						}
					}
				}
			}
		}
	}
}

func holdsExactly(t *testing.T, p problem.Matmul, programs []*tile.Program, dist string) {
	t.Helper()
	ref, err := ReferenceOf(t.Context(), p, nil, 5, dist)
	if err != nil {
		if !HasExact(p) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	in, err := Inputs(t.Context(), p, programs, 5, dist)
	if err != nil {
		t.Fatal(err)
	}
	out, err := interp.Run(t.Context(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ref.Verify(t.Context(), programs, nil, map[string]tile.Tensor{"o": out[0]}); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}
