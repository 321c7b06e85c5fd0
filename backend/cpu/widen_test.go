package cpu

import (
	"context"
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/seeded"
	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestWidened multiplies operands stored narrower than their factors, in shapes
// of several chunks and pieces whose rows of int4 begin at either nibble or at whole
// bytes, with b packed and not packed.
func TestWidened(t *testing.T) {
	const k = 430
	run := thoroughtest.Choose(1, 11, 37)
	for _, isa := range gemm.Supported() {
		be := open(t, Options{Threads: 2, ISA: isa.String()})()
		for _, c := range []struct {
			a, b  tile.Dtype
			quant problem.Quant
		}{
			{tile.BFloat16, tile.Int4, "per_channel"},
			{tile.BFloat16, tile.Int4, "per_block64+zero_b"},
			{tile.Float32, tile.Int4, "per_block64"},
			{tile.BFloat16, tile.Int8, "per_channel"},
			{tile.Float32, tile.Float8E4M3FN, "per_channel"},
			{tile.Float8E5M2, tile.Float8E5M2, "per_channel+token"},
			{tile.Float8E4M3FN, tile.Float8E4M3FN, "per_channel+token"},
			{tile.Int8, tile.Int4, "per_channel+token"},
			{tile.Int8, tile.Int4, "per_block64+token"},
		} {
			for _, size := range [][2]int{{1, 602}, {3, 201}, {8, 602}, {50, 601}} {
				if !run() {
					continue
				}
				m, n := size[0], size[1]
				t.Run(fmt.Sprintf("%s/%sx%s:%s/%dx%d", isa, c.a, c.b, c.quant, m, n), func(t *testing.T) {
					p := problem.New(m, k, n, c.a)
					p.B, p.Out, p.Quant = c.b, tile.Float32, c.quant
					checkBlocks(t, be, p, tile.Blocks{M: m, K: k, N: n})
					checkBlocks(t, be, p, tile.Blocks{M: 32, K: 192, N: 128}.Clip(m, k, n))
				})
			}
		}
		be.Close()
	}
}

// checkBlocks runs the fifth rung and compares with float64.
func checkBlocks(t *testing.T, be *Backend, p problem.Matmul, blocks tile.Blocks) {
	t.Helper()
	programs, err := problemtest.Kernel(p).Build(p, "", blocks)
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, "blocks "+blocks.String(), be, programs, p, backend.Params{})
}

// checkRun runs the programs of a problem, made as what says, and compares with
// float64.
func checkRun(t *testing.T, what string, be *Backend, programs []*tile.Program, p problem.Matmul, params backend.Params) {
	t.Helper()
	e, err := be.Compile(t.Context(), programs, params)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	spec := backend.InputSpec{Problem: p, Seed: 1, Dist: "normal"}
	s := seeded.Of(e, programs, new(seeded.References))
	if err := s.LoadSeeded(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
		t.Errorf("%s: %v %s, err/bound %v", what, err, r.Detail, r.ErrOverBound)
	}
}
