package backendtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// quantizedSizes overhang their blocks in every dimension, have whole groups of
// k that share scales, parts of one, and one in several blocks; then they are deep
// enough that a backend cuts k, and wide enough that it takes long rows; the last have
// as many rows as it may have another way for, which reads narrow operands.
var quantizedSizes = []struct {
	batch, m, k, n int
	blocks         tile.Blocks
}{
	{1, 9, 150, 11, tile.Blocks{M: 8, K: 64, N: 8}},
	{3, 5, 65, 9, tile.Blocks{M: 5, K: 128, N: 8}},
	{1, 5, 70, 17, tile.Blocks{M: 4, K: 16, N: 16}},
	{1, 2, 1181, 33, tile.Blocks{M: 3, K: 1181, N: 41}},
	{1, 29, 64, 32, tile.Blocks{M: 29, K: 64, N: 32}},
	{1, 49, 33, 16, tile.Blocks{M: 49, K: 33, N: 16}},
}

// testQuantized runs every quantization of the fifth rung.
func testQuantized(t *testing.T, s suite) {
	n := 0
	for _, size := range quantizedSizes {
		for _, p := range problemtest.Quantized(size.batch, size.m, size.k, size.n, 32) {
			for _, variant := range problemtest.Kernel(p).Variants(p) {
				if n++; !s.runs(n, s.OneIn) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v%s", problemtest.Label(p), size.blocks, variant), func(t *testing.T) {
					programs, err := problemtest.Kernel(p).Build(p, variant, size.blocks.Clip(p.M, p.K, p.N))
					if err != nil {
						t.Fatal(err)
					}
					s.quantized(t, p, programs)
				})
			}
		}
	}
}

func (s suite) quantized(t *testing.T, p problem.Matmul, programs []*tile.Program) {
	e, err := s.tryCompile(t.Context(), programs, s.Params)
	if errors.Is(err, backend.ErrUnsupported) && s.MayRefuseQuantized != nil && s.MayRefuseQuantized(p) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	scheme, err := p.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	exact := !scheme.Dynamic && (p.Activation == problem.NoActivation || p.Activation == problem.Relu)
	if exact {
		in := smallIntegers(t, programs, 5)
		sameBits(t, oracle(t, programs, in), s.run(t, e, programs, in, several))
	}
	if !s.Seeded {
		return
	}
	s.exactly(t, e, p)
	spec := backend.InputSpec{Problem: p, Seed: 3, Dist: "normal"}
	if err := e.LoadSeeded(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(context.Background(), several); err != nil {
		t.Fatal(err)
	}
	res, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec})
	if err != nil || !res.OK || !(res.ErrOverBound <= 1) || !res.Quantized {
		t.Errorf("%+v, %v", res, err)
	}
}
