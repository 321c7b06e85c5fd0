package backendtest

import (
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// shape is m, k, n.
type shape struct{ m, k, n int }

// The shapes differ in every size, among them 1, primes, powers of two and sizes beyond the
// blocks; the last ones are deep enough that a backend cuts k, or tall enough that it cuts m;
// then come few rows, for which it may have other ways.
var shapes = []shape{
	{1, 1, 1}, {1, 5, 3}, {7, 1, 2}, {3, 2, 1}, {13, 17, 11}, {32, 64, 16}, {67, 129, 83}, {131, 31, 257},
	{2, 2309, 37}, {307, 19, 6},
	{1, 70, 41}, {7, 35, 129}, {16, 70, 33}, {24, 33, 66}, {48, 41, 65}, {49, 41, 65},
}

// deepIntegers is deep enough that a backend cuts k of int8 operands.
var deepIntegers = shape{3, 9001, 18}

// blockShapes are for the rungs that take any.
var blockShapes = []tile.Blocks{
	{M: 128, K: 128, N: 128}, {M: 16, K: 32, N: 64}, {M: 19, K: 37, N: 23}, {M: 5, K: 3, N: 2},
}

// problems lists what the rungs are asked: each dtype plain, and int8 with scales.
func problems(s shape) []problem.Matmul {
	var ps []problem.Matmul
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		ps = append(ps, problem.New(s.m, s.k, s.n, d))
	}
	wide := problem.New(s.m, s.k, s.n, tile.BFloat16)
	wide.Out = tile.Float32
	ps = append(ps, wide)
	for _, out := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.New(s.m, s.k, s.n, tile.Int8)
		p.Quant, p.Out = problem.PerTensor, out
		ps = append(ps, p)
	}
	return ps
}

// blocksFor returns the block shapes to try of a rung.
func blocksFor(k kernels.Kernel, p problem.Matmul) []tile.Blocks {
	if k.Number() <= 2 {
		return append(k.Candidates(p, problem.Machine{Parallel: 2}), k.Candidates(p, problem.Machine{Parallel: 3})...)
	}
	blocks := blockShapes
	if p.M*p.K*p.N > 1<<18 {
		blocks = blocks[:3] // tiny blocks over a large array say nothing new and take long
	}
	return tile.Candidates(p.M, p.K, p.N, blocks...)
}

// cases calls f for every kernel, problem and block shape that o chooses.
func (o Options) cases(t *testing.T, f func(t *testing.T, k kernels.Kernel, p problem.Matmul, programs []*tile.Program)) {
	n := 0
	for _, k := range kernels.Ladder(problem.MatmulFamily) {
		for _, s := range append(append([]shape(nil), shapes...), deepIntegers) {
			for _, p := range problems(s) {
				if k.Supports(p) != nil || s == deepIntegers && p.A != tile.Int8 {
					continue
				}
				seen := map[tile.Blocks]bool{}
				for _, b := range blocksFor(k, p) {
					if n++; seen[b] || !o.runs(n, o.OneIn) {
						continue
					}
					seen[b] = true
					programs, err := k.Build(p, "", b)
					if err != nil {
						t.Fatalf("%s: Build %v %v: %v", k.Name(), p, b, err)
					}
					t.Run(fmt.Sprintf("%s/%v/%v%s", k.Name(), p, b, p.Quant), func(t *testing.T) { f(t, k, p, programs) })
				}
			}
		}
	}
}

// testKernels compares the rungs with interp.
func testKernels(t *testing.T, s suite) {
	s.cases(t, func(t *testing.T, k kernels.Kernel, p problem.Matmul, programs []*tile.Program) {
		e := s.compile(t, programs, s.Params)
		in := smallIntegers(t, programs, 1)
		before := copies(in)
		got := s.run(t, e, programs, in, 1)
		want := oracle(t, programs, in)
		sameBits(t, want, got)
		sameBits(t, before, in)

		// Again on the same arrays: nothing may be left over.
		again := s.run(t, e, programs, in, several)
		sameBits(t, want, again)

		for _, n := range s.Threads {
			params := s.Params
			params.Threads = n
			sameBits(t, want, s.run(t, s.compile(t, programs, params), programs, in, 1))
		}

		in = random(t, programs, 2)
		got = s.run(t, e, programs, in, 1)
		if p.Out.IsInteger() {
			sameBits(t, oracle(t, programs, in), got)
		} else {
			within(t, s.bound(p, programs), programs, in, got)
		}
		s.exactly(t, e, p)
	})
}

// exactly takes an executable through an exact probe, which every right one passes.
func (s suite) exactly(t *testing.T, e backend.Seeded, p problem.Problem) {
	t.Helper()
	if !s.Seeded {
		return
	}
	spec := backend.InputSpec{Problem: p, Seed: 11, Dist: "exact"}
	if err := e.LoadSeeded(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), several); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
		t.Errorf("exact probe: %+v, %v", r, err)
	}
}
