package cpu

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/thoroughtest"
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
	run := thoroughtest.Choose(1, 31, 61)
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
					if !run() {
						continue
					}
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

// BenchmarkDecode is one row of each of 8 sequences behind 8192 keys, 32 heads of which 4
// share keys: how fast k and v come from memory, and beside it, in turn, how fast a loop
// goes over as many bytes that does nothing else. Both are medians.
func BenchmarkDecode(b *testing.B) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.Attention{Batch: 8, Heads: 32, KVHeads: 8, Rows: 1, Keys: 8192, Dim: 128, ValueDim: 128, Dtype: d}
		for _, keys := range []int{512, 2048} {
			b.Run(fmt.Sprintf("%s/%d", d, keys), func(b *testing.B) {
				const split = 4
				threads := runtime.GOMAXPROCS(0)
				e, _, _ := runAttention(b, Options{Threads: threads}, attentiontest.Rungs()[split], p, tile.Blocks{M: 1, K: keys})
				memory := Buffer(int(d.Bytes(int64(2 * p.Batch * p.KVHeads * p.Keys * p.Dim))))
				for i := range memory { // pages are there once they are written
					memory[i] = 2
				}
				var launches, reads []float64 // seconds
				for b.Loop() {
					s, err := e.Run(context.Background(), 1)
					if err != nil {
						b.Fatal(err)
					}
					launches = append(launches, s.Elapsed.Seconds())
					start := time.Now()
					var wait sync.WaitGroup
					for part := range slices.Chunk(memory, len(memory)/threads) {
						wait.Go(func() {
							if bytes.IndexByte(part, 1) >= 0 { // which there is not
								b.Error("found what is not there")
							}
						})
					}
					wait.Wait()
					reads = append(reads, time.Since(start).Seconds())
				}
				rate := func(seconds []float64) float64 {
					slices.Sort(seconds)
					return float64(len(memory)) / seconds[len(seconds)/2] / 1e9
				}
				b.ReportMetric(rate(launches), "GB/s")
				b.ReportMetric(rate(reads), "GB/s-read-alone")
			})
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
						shapes = k.Candidates(p, problem.Machine{FastBytes: 1 << 20})
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
