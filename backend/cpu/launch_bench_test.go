package cpu

import (
	"context"
	"fmt"
	"testing"
	"time"

	"matladder/backend"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// BenchmarkLaunch runs small products: launches that follow each other in one Run, and calls.
// Its own figure is the shortest of several series, each of some ten microseconds or more.
func BenchmarkLaunch(b *testing.B) {
	for _, threads := range []int{1, 2} {
		be, err := Open(Options{Threads: threads, NoProbe: true})
		if err != nil {
			b.Fatal(err)
		}
		defer be.Close()
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			for _, s := range [][3]int{{2, 1, 1}, {4, 8, 19}, {16, 16, 16}, {32, 32, 32}, {64, 64, 64}, {128, 128, 128}} {
				p := problem.New(s[0], s[1], s[2], d)
				programs, err := kernels.All[4].Build(p, "", tile.Blocks{M: s[0], K: s[1], N: s[2]})
				if threads > 1 { // one task a worker
					programs, err = kernels.All[4].Build(p, "", tile.Blocks{M: tile.Ceil(s[0], threads), K: s[1], N: s[2]})
				}
				if err != nil {
					b.Fatal(err)
				}
				name := fmt.Sprintf("%d/%s/%s", threads, d, p.Shape())
				b.Run(name+"/run", func(b *testing.B) { benchmarkRun(b, be, programs) })
				b.Run(name+"/call", func(b *testing.B) { benchmarkCall(b, be, programs) })
			}
		}
	}
}

// series is how many launches are timed together.
const series = 64

func benchmarkRun(b *testing.B, be *Backend, programs []*tile.Program) {
	e, err := be.Compile(b.Context(), programs, backend.Params{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	in, _ := arraysOf(b, programs)
	if err := e.Load(in...); err != nil {
		b.Fatal(err)
	}
	shortest(b, func(launches int) (time.Duration, error) {
		s, err := e.Run(context.Background(), launches)
		return s.Elapsed, err
	})
}

func benchmarkCall(b *testing.B, be *Backend, programs []*tile.Program) {
	c, err := be.CompileCall(b.Context(), programs, backend.Params{}, backend.Layout{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	x := new(backend.Arguments)
	in, out := arraysOf(b, programs)
	for _, t := range in {
		x.In = append(x.In, aligned(t))
	}
	for _, t := range out {
		x.Out = append(x.Out, aligned(t))
	}
	shortest(b, func(launches int) (time.Duration, error) {
		start := time.Now()
		for range launches {
			if err := c.Call(context.Background(), x); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	})
}

func aligned(t tile.Tensor) []byte {
	data := Buffer(len(t.Data))
	copy(data, t.Data)
	return data
}

// arraysOf makes those of programs, inputs of ones.
func arraysOf(t testing.TB, programs []*tile.Program) (in, out []tile.Tensor) {
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range bound.In {
		x := tile.NewTensor(r.Dtype, r.Array...)
		for i := range x.Len() {
			x.Set(i, 1)
		}
		in = append(in, x)
	}
	for _, r := range bound.Out {
		out = append(out, tile.NewTensor(r.Dtype, r.Array...))
	}
	return in, out
}

// shortest reports the time of a launch in the fastest series.
func shortest(b *testing.B, run func(launches int) (time.Duration, error)) {
	if _, err := run(series); err != nil {
		b.Fatal(err)
	}
	var best time.Duration
	b.ReportAllocs()
	for b.Loop() {
		took, err := run(series)
		if err != nil {
			b.Fatal(err)
		}
		if best == 0 || took < best {
			best = took
		}
	}
	b.ReportMetric(float64(best.Nanoseconds())/series, "best-ns/launch")
}
