//go:build linux

package matladder_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder"
	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/foreign/process"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// BenchmarkPrepack compares products of a b that was packed once with those of MKL's and
// oneDNN's own interfaces for that, in paired rounds; libraries that are not installed are
// left out. Only what b.Log prints at the end counts, of -benchtime 1x.
func BenchmarkPrepack(b *testing.B) {
	program, err := process.Build(b.Context(), filepath.Join(b.TempDir(), "peer"))
	if err != nil {
		b.Skip(err)
	}
	machine, err := cpu.Open(cpu.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer machine.Close()
	for _, s := range [][3]int{{1, 4096, 14336}, {4, 4096, 14336}, {16, 4096, 14336}, {64, 4096, 14336}, {512, 512, 512}} {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			p := problem.New(s[0], s[1], s[2], d)
			p.Out = p.Acc // that MKL has too
			b.Run(fmt.Sprintf("%dx%dx%d/%s", p.M, p.K, p.N, d), func(b *testing.B) { comparePacked(b, machine, program, p) })
		}
	}
}

func comparePacked(b *testing.B, machine *cpu.Backend, program string, p problem.Matmul) {
	ctx := b.Context()
	c, err := matladder.Compile(ctx, p, matladder.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	x, y, o := matrix(p.A, p.M, p.K), matrix(p.B, p.K, p.N), matrix(p.Out, p.M, p.N)
	packed, err := c.Prepack(ctx, "b", y)
	if err != nil {
		b.Fatal(err)
	}
	launches := 1 + int(min(4e9/float64(p.FLOPs()), 5e8/float64(p.Bytes())))
	names := []string{"matladder"}
	ways := []func() float64{func() float64 {
		b.StartTimer()
		defer b.StopTimer()
		return elapsed(func() {
			for range launches {
				if err := c.Run(ctx, o, x, packed); err != nil {
					b.Fatal(err)
				}
			}
		}) / float64(launches)
	}}
	var libraries []process.Library // all versions that LD_LIBRARY_PATH leads to
	for _, name := range []string{"mkl", "onednn"} {
		found := process.Find(name, nil)
		if len(found) == 0 {
			b.Logf("%s is not installed: %s", name, process.Install(name))
		}
		libraries = append(libraries, found...)
	}
	for _, l := range libraries {
		lib, err := process.Open(ctx, process.Options{Program: program, Library: l, Threads: machine.Threads(), Host: machine.Device(), Packed: true})
		if err != nil {
			b.Fatal(err)
		}
		made, err := lib.Solve(ctx, backend.ProblemSpec{Problem: p})
		if err != nil {
			b.Logf("%s: %v", l.Name, err)
			continue
		}
		e := seeded.Of(made, nil, new(seeded.References))
		defer e.Close()
		if err := e.LoadSeeded(ctx, backend.InputSpec{Problem: p, Seed: 1, Dist: check.Uniform}); err != nil {
			b.Fatal(err)
		}
		_, version := lib.Plugin()
		names = append(names, l.Name+" "+version)
		ways = append(ways, func() float64 {
			s, err := e.Run(ctx, launches)
			if err != nil {
				b.Fatal(err)
			}
			return s.Elapsed.Seconds() / float64(launches)
		})
	}
	b.StopTimer()
	b.ResetTimer()
	const rounds = 25
	times := make([][]float64, len(ways))
	ratios := make([][]float64, len(ways))
	for range b.N {
		for range rounds {
			var round []float64
			for _, way := range ways {
				way() // awake, and caches warm
				round = append(round, way())
			}
			for i, t := range round {
				times[i], ratios[i] = append(times[i], t), append(ratios[i], t/round[0])
			}
		}
	}
	for i, name := range names {
		b.Logf("%-28s %9.1f µs  %7.1f GFLOP/s, %.3f times as long", name, middle(times[i])*1e6, float64(p.FLOPs())/middle(times[i])/1e9, middle(ratios[i]))
		if i > 0 {
			b.ReportMetric(middle(ratios[i]), strings.ReplaceAll(name, " ", "-")+"/matladder")
		}
	}
}

func middle(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }
