package cpu

import (
	"context"
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/kernels"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// BenchmarkLadder runs every rung with each of its block shapes on all cores.
func BenchmarkLadder(b *testing.B) {
	be, err := Open(Options{NoProbe: true})
	if err != nil {
		b.Fatal(err)
	}
	m := problem.Machine{Parallel: be.Threads()}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		for _, n := range []int{1024, 2048} {
			p := problem.New(n, n, n, d)
			for _, k := range kernels.Ladder(problem.MatmulFamily) {
				for _, blocks := range k.Candidates(p, m) {
					programs, err := k.Build(p, "", blocks)
					if err != nil {
						b.Fatal(err)
					}
					b.Run(fmt.Sprintf("%s/%d/%s/%v", d, n, k.Name(), blocks), func(b *testing.B) {
						measure(b, be, p, programs)
					})
				}
			}
		}
	}
}

func measure(b *testing.B, be *Backend, p problem.Matmul, programs []*tile.Program) {
	e, err := be.Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	if err := seeded.Of(e, programs, new(seeded.References)).LoadSeeded(b.Context(), backend.InputSpec{Problem: p, Seed: 1, Dist: "uniform"}); err != nil {
		b.Fatal(err)
	}
	if _, err := e.Run(context.Background(), 1); err != nil {
		b.Fatal(err)
	}
	best := 0.0
	for b.Loop() {
		s, err := e.Run(context.Background(), 1)
		if err != nil {
			b.Fatal(err)
		}
		best = max(best, float64(p.FLOPs())/s.Elapsed.Seconds())
	}
	b.ReportMetric(float64(p.FLOPs())*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	b.ReportMetric(best/1e9, "best-GFLOP/s")
}

// BenchmarkQuantized runs products of few rows with quantized weights: the layers
// of a language model, decoding.
func BenchmarkQuantized(b *testing.B) {
	be, err := Open(Options{NoProbe: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		a, b  tile.Dtype
		quant problem.Quant
	}{
		{tile.BFloat16, tile.Int4, "per_block128"},
		{tile.BFloat16, tile.Int4, "per_block128+zero_b"},
		{tile.BFloat16, tile.Int4, "per_channel"},
		{tile.Int8, tile.Int4, "per_block128+token"},
		{tile.Int8, tile.Int4, "per_channel+token"},
		{tile.BFloat16, tile.Int8, "per_channel"},
		{tile.BFloat16, tile.Int8, "per_channel+dynamic_token"},
		{tile.BFloat16, tile.Float8E4M3FN, "per_channel"},
		{tile.BFloat16, tile.Float8E5M2, "per_channel"},
	} {
		for _, m := range []int{1, 16, 64} {
			p := problem.New(m, 4096, 6144, c.a)
			p.B, p.Out, p.Quant = c.b, tile.BFloat16, c.quant
			if _, d := p.Factors(); d == tile.Int8 {
				p.Acc = tile.Int32
			}
			programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 64, K: 1024, N: 1024}.Clip(p.M, p.K, p.N))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%sx%s:%s/%d", c.a, c.b, c.quant, m), func(b *testing.B) {
				measure(b, be, p, programs)
			})
		}
	}
}
