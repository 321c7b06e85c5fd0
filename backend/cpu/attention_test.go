package cpu

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/kernels"
	"matladder/kernels/attention/attentiontest"
	"matladder/problem"
	"matladder/tile"
)

// runAttention compiles a rung of attention and loads inputs.
func runAttention(t testing.TB, o Options, k kernels.Kernel, p problem.Attention, b tile.Blocks) (backend.Executable, []*tile.Program, []tile.Tensor) {
	t.Helper()
	programs, err := k.Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	o.NoProbe = true
	be, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { be.Close() })
	e, err := be.Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	in, err := attentiontest.Inputs(p, b, programs, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(in...); err != nil {
		t.Fatal(err)
	}
	return e, programs, in
}

// TestAttention holds every rung to float64 on every case, with every instruction set.
func TestAttention(t *testing.T) {
	for isa := gemm.Generic; isa <= gemm.AMX; isa++ {
		if len(isa.Missing()) > 0 {
			continue
		}
		for _, c := range attentiontest.Cases() {
			for _, k := range attentiontest.Rungs() {
				if c.PageSize > 0 && k.Supports(c.Attention) != nil {
					continue
				}
				for _, b := range []tile.Blocks{{M: 8, K: 16}, {M: 64, K: 64}} {
					b = problem.Clip(c.Attention, b)
					t.Run(fmt.Sprintf("%s/%s/%s/%d×%d", isa, c.Name, k.Name(), b.M, b.K), func(t *testing.T) {
						e, programs, in := runAttention(t, Options{Threads: 2, ISA: isa.String(), giveWay: true}, k, c.Attention, b)
						if _, err := e.Run(context.Background(), 1); err != nil {
							t.Fatal(err)
						}
						if err := attentiontest.Check(c.Attention, programs, in, outputsOf(t, e, programs)); err != nil {
							t.Error(err)
						}
					})
				}
			}
		}
	}
}

// BenchmarkAttention is one forward pass of 8 heads over 2048 keys.
func BenchmarkAttention(b *testing.B) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, dim := range []int{64, 128} {
			for _, causal := range []bool{false, true} {
				p := problem.Self(2048, dim, d)
				p.Heads, p.KVHeads, p.Causal = 8, 8, causal
				for _, k := range attentiontest.Rungs() {
					shapes := []tile.Blocks{{M: 64, K: 512}, {M: 128, K: 512}, {M: 256, K: 512}}
					if k.Number() < 3 {
						shapes = k.Candidates(p, tile.Machine{FastBytes: 1 << 20})
					}
					for _, s := range shapes {
						b.Run(fmt.Sprintf("%s/%d/causal=%v/%s/%d×%d", d, dim, causal, k.Name(), s.M, s.K), func(b *testing.B) {
							e, _, _ := runAttention(b, Options{}, k, p, problem.Clip(p, s))
							for b.Loop() {
								if _, err := e.Run(context.Background(), 1); err != nil {
									b.Fatal(err)
								}
							}
							b.ReportMetric(float64(p.FLOPs())*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
						})
					}
				}
			}
		}
	}
}

// TestAttention_Plan: what goes through rows in strips says so, and every rung has a plan.
func TestAttention_Plan(t *testing.T) {
	be, err := Open(Options{Threads: 2, ISA: "generic", NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer be.Close()
	p := problem.Self(256, 64, tile.BFloat16)
	p.Heads, p.KVHeads, p.Causal = 4, 2, true
	for _, k := range attentiontest.Rungs() {
		programs, err := k.Build(p, "", problem.Clip(p, tile.Blocks{M: 64, K: 128}))
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		if err := be.WritePlan(t.Context(), &plan, programs, backend.Params{}); err != nil {
			t.Fatal(err)
		}
		if in := strings.Contains(plan.String(), "acc, top go through rows together"); in != (k.Number() >= 3) {
			t.Errorf("%s: in strips: %v\n%s", k.Name(), in, plan.String())
		}
	}
}
