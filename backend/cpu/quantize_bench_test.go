package cpu

import (
	"context"
	"fmt"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// BenchmarkQuantizing runs the programs that quantize a matrix in a launch, without
// the product, in turns with a copy of as many bytes as they read and write, by as
// many threads: metric copies is how many times as long they take, best beside best.
func BenchmarkQuantizing(b *testing.B) {
	for _, c := range []struct {
		a     tile.Dtype
		quant problem.Quant
	}{
		{tile.BFloat16, "per_channel+dynamic_token"},
		{tile.Float32, "per_channel+dynamic_token"},
		{tile.BFloat16, "per_channel+dynamic_token+zero_a"},
		{tile.BFloat16, "per_channel+dynamic_tensor"},
	} {
		p := problem.New(2048, 2048, 2048, c.a)
		p.B, p.Out, p.Acc, p.Quant = tile.Int8, tile.BFloat16, tile.Int32, c.quant
		programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 1024, K: 2048, N: 2048})
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s:%s/%d", c.a, c.quant, threads), func(b *testing.B) {
				be, err := Open(Options{NoProbe: true, Threads: threads})
				if err != nil {
					b.Fatal(err)
				}
				besideCopy(b, be, programs[:len(programs)-1], p.A.Bytes(int64(p.M)*int64(p.K))+int64(p.M)*int64(p.K))
			})
		}
	}
}

// besideCopy runs programs in turns with a copy that reads and writes bytes in all.
func besideCopy(b *testing.B, be *Backend, programs []*tile.Program, bytes int64) {
	e, err := be.compile(context.Background(), programs, backend.Params{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	in := make([]tile.Tensor, len(e.Bound.In))
	for i, r := range e.Bound.In {
		in[i] = tile.NewTensor(r.Dtype, r.Array...)
		for j := range in[i].Len() {
			in[i].Set(j, float64(j*7919%1024)/512-1)
		}
	}
	if err := e.Load(in...); err != nil {
		b.Fatal(err)
	}
	pages, err := memory.NewPages(int(bytes))
	if err != nil {
		b.Fatal(err)
	}
	defer memory.FreePages(pages)
	memory.Fill(pages, 1)
	threads, half := be.Threads(), int(bytes)/2
	pool := exec.NewPool(threads)
	defer pool.Close()
	pool.StayAwake(true)
	ours, copied := time.Hour, time.Hour
	for b.Loop() {
		s, err := e.Run(context.Background(), 1)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		pool.Run(func(member int) {
			from, to := plan.Dealt(member, threads, half)
			copy(pages[half+from:half+to], pages[from:to])
		})
		ours, copied = min(ours, s.Elapsed), min(copied, time.Since(start))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ours.Microseconds()), "best-µs")
	b.ReportMetric(float64(copied.Microseconds()), "copy-µs")
	b.ReportMetric(float64(ours)/float64(copied), "copies")
}
