package gemm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
)

// BenchmarkTile is the micro-kernel alone, one panel of a and one of b again
// and again.
func BenchmarkTile(b *testing.B) {
	for _, isa := range Supported() {
		k := For(isa)
		benchTile(b, k.Float32)
		if k.PairsBFloat16 != nil {
			benchTile(b, k.PairsBFloat16)
		}
		benchTile(b, k.Int8)
		if k.WideInt8 != k.Int8 {
			benchTile(b, k.WideInt8)
		}
		if isa == AMX {
			benchTile(b, k.TilesBFloat16)
			benchTile(b, k.TilesInt8)
		}
	}
}

func benchTile[S Source, C Sum](b *testing.B, p *MicroKernels[S, C]) {
	steps := 256 / p.Words
	pa, pb := memory.NewBuffer(p.SizeA(p.MR, steps*p.KU)), memory.NewBuffer(p.SizeB(steps*p.KU, p.NR))
	p.PackA(pa, randomSource[S](p.MR*steps*p.KU), steps*p.KU, p.MR, steps*p.KU)
	p.PackB(pb, randomSource[S](p.NR*steps*p.KU), p.NR, steps*p.KU, p.NR)
	wa, wb := words(pa, len(pa)), words(pb, len(pb))
	c := make([]C, p.MR*p.NR)
	b.Run(p.Name, func(b *testing.B) {
		seconds := best(b, func() {
			if p.kernel.strips != nil {
				const row, step = tilesNR * wordBytes, tilesMR * tilesWords * wordBytes
				p.kernel.strips(&strip[C]{
					sum: &c[0], sumRow: row, c: &c[0], row: row, a: &wa[0], rowA: tilesWords * wordBytes, stepA: step,
					b: &wb[0], steps: steps, rows: p.MR, cols: p.NR, accumulate: true,
				})
				return
			}
			p.kernel.tile(&c[0], p.NR, steps, &wa[0], &wb[0], nil, 0, p.MR, p.NR, true)
		})
		reportRate(b, p, p.MR, p.NR, steps*p.KU, seconds)
	})
}

// BenchmarkBlock multiplies packed square matrices on one core.
func BenchmarkBlock(b *testing.B) {
	for _, isa := range Supported() {
		k := For(isa)
		for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
			if isa == Generic && n > 256 {
				continue
			}
			benchBlock(b, k.Float32, n)
			if k.PairsBFloat16 != nil {
				benchBlock(b, k.PairsBFloat16, n)
			}
			benchBlock(b, k.Int8, n)
			if k.WideInt8 != k.Int8 {
				benchBlock(b, k.WideInt8, n)
			}
			if isa == AMX {
				benchBlock(b, k.TilesBFloat16, n)
				benchBlock(b, k.TilesInt8, n)
			}
		}
	}
}

func benchBlock[S Source, C Sum](b *testing.B, p *MicroKernels[S, C], n int) {
	pa, pb, c := memory.NewBuffer(p.SizeA(n, n)), memory.NewBuffer(p.SizeB(n, n)), make([]C, n*n)
	p.PackA(pa, randomSource[S](n*n), n, n, n)
	p.PackB(pb, randomSource[S](n*n), n, n, n)
	b.Run(fmt.Sprintf("%s/%d", p.Name, n), func(b *testing.B) {
		seconds := best(b, func() { p.Block(c, n, n, n, n, pa, pb, false) })
		reportRate(b, p, n, n, n, seconds)
	})
}

// BenchmarkThin multiplies small cubes and few rows of a, by a b that is in
// L3 and by one in memory. What it counts includes packing of both operands, a
// piece of b at a time as far as L2 holds it; packing of a alone, with b kept
// packed; or packing of a alone, with b read directly.
func BenchmarkThin(b *testing.B) {
	for _, isa := range Supported() {
		if isa == Generic {
			continue
		}
		k := For(isa)
		thin := func(m, depth, n int) {
			benchThin(b, k.Float32, m, depth, n)
			benchThin(b, k.BFloat16, m, depth, n)
			benchThin(b, k.Int8, m, depth, n)
		}
		for _, cube := range []int{16, 64, 128} {
			thin(cube, cube, cube)
		}
		thin(3, 2, 3650)
		thin(4, 8, 19)
		thin(18, 12, 197)
		for _, m := range []int{1, 2, 4, 6, 8, 16, 32, 64} {
			thin(m, 1024, 1024)
		}
		for _, m := range []int{1, 4, 16, 64} {
			thin(m, 4096, 6144)
		}
	}
}

func benchThin[S Source, C Sum](b *testing.B, p *MicroKernels[S, C], m, k, n int) {
	a, src, c := randomSource[S](m*k), randomSource[S](k*n), make([]C, m*n)
	pa, pb := memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n))
	p.PackA(pa, a, k, m, k)
	p.PackB(pb, src, n, k, n)
	piece := max(p.NR, probe.Host().L2/2/p.PanelB(k)*p.NR)
	var s S
	ways := []struct {
		name string
		work func()
	}{
		{"kept", func() {
			p.PackA(pa, a, k, m, k)
			p.Block(c, n, m, n, k, pa, pb, false)
		}},
		{"direct", func() {
			r := Run[S]{Rows: a, LDA: k}
			if !p.ReadsA(k) {
				r = Run[S]{A: pa}
				p.PackA(pa, a, k, m, k)
			}
			p.MultiplyDirect(r, c, n, m, n, k, src, n, false)
		}},
		{"packed", func() {
			p.PackA(pa, a, k, m, k)
			for j := 0; j < n; j += piece {
				cols := min(piece, n-j)
				p.PackB(pb, src[j:], n, k, cols)
				p.Block(c[j:], n, m, cols, k, pa, pb, false)
			}
		}},
	}
	for _, way := range ways {
		if way.name == "direct" && p.DirectRows() == 0 {
			continue
		}
		b.Run(fmt.Sprintf("%s/%T/%dx%dx%d/%s", p.Name, s, m, k, n, way.name), func(b *testing.B) {
			reportRate(b, p, m, n, k, best(b, way.work))
		})
	}
}

// BenchmarkPack reports the bytes of the source.
func BenchmarkPack(b *testing.B) {
	for _, isa := range Supported() {
		k := For(isa)
		benchPack(b, k.Float32)
		benchPack(b, k.WideBFloat16)
		if k.PairsBFloat16 != nil {
			benchPack(b, k.PairsBFloat16)
		}
		benchPack(b, k.Int8)
		if k.WideInt8 != k.Int8 {
			benchPack(b, k.WideInt8)
		}
		if isa == AMX {
			benchPack(b, k.TilesBFloat16)
			benchPack(b, k.TilesInt8)
		}
	}
}

func benchPack[S Source, C Sum](b *testing.B, p *MicroKernels[S, C]) {
	const n = 1024
	src, dst := randomSource[S](n*n), memory.NewBuffer(max(p.SizeA(n, n), p.SizeB(n, n)))
	var s S
	for _, op := range []struct {
		name string
		pack func(dst []byte, src []S, ld, x, y int)
	}{{"A", p.PackA}, {"B", p.PackB}, {"AT", p.PackAT}, {"BT", p.PackBT}} {
		b.Run(fmt.Sprintf("%s/%T/%s", p.Name, s, op.name), func(b *testing.B) {
			seconds := best(b, func() { op.pack(dst, src, n, n, n) })
			b.ReportMetric(n*n/seconds/1e9, "Gelem/s")
		})
	}
}

// best runs work until the benchmark's time is over and returns how long it
// took at best, in seconds. Other work on the machine takes turns on the core
// and lowers its clock: the time of the thread and the best samples of many
// show it least. The very best are left out, as the clock of a thread may
// have been set back.
func best(b *testing.B, work func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const sample = 100 * time.Microsecond
	repeat := 1
	run := func() time.Duration {
		start := threadTime()
		for range repeat {
			work()
		}
		return threadTime() - start
	}
	for run() < sample {
		repeat *= 2
	}
	var samples []float64
	for b.Loop() {
		samples = append(samples, run().Seconds()/float64(repeat))
	}
	b.ReportMetric(0, "ns/op") // of samples: says nothing
	slices.Sort(samples)
	return samples[len(samples)/20]
}

// reportRate reports the rate, and how much it is of the measured peak.
func reportRate[S Source, C Sum](b *testing.B, p *MicroKernels[S, C], m, n, k int, seconds float64) {
	rate := 2 * float64(m) * float64(n) * float64(k) / seconds
	dtype := "int8"
	switch p.Format {
	case formatFloat32, formatBFloat16:
		dtype = strings.TrimSuffix(p.Format, "x2")
	case formatBFloat16Tiles:
		dtype = "bfloat16"
	}
	isa, _, _ := strings.Cut(p.Name, " ")
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(100*rate/peak(isa, dtype), "%peak")
}

var peaks = map[string]float64{}

// peak measures once for each dtype of an instruction set.
func peak(isa, dtype string) float64 {
	key := isa + dtype
	if peaks[key] == 0 {
		peaks[key] = probe.PeakFLOPs(context.Background(), isa, dtype, 1)
	}
	return peaks[key]
}

// randomSource is n elements: small numbers for floats, every value for bytes.
func randomSource[S Source](n int) []S {
	s := make([]S, n)
	for i := range s {
		switch v := any(&s[i]).(type) {
		case *float32:
			*v = rand.Float32() - 0.5
		case *uint16:
			*v = uint16(rand.IntN(2)<<15 | (120+rand.IntN(10))<<7 | rand.IntN(128))
		case *int8:
			*v = int8(rand.Uint32())
		case *uint8:
			*v = uint8(rand.Uint32())
		}
	}
	return s
}
