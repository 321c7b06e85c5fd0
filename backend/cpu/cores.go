package cpu

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	"matladder/backend/cpu/internal/timing"
	"matladder/machine"
	"matladder/tile"
)

// measureCores measures what block shapes are ranked by (package model/blocking), in
// some hundred milliseconds. bandwidth is that of memory.
func (b *Backend) measureCores(ctx context.Context, bandwidth float64) *machine.Cores {
	kernels, err := kernelsOf(b.options.ISA)
	if err != nil || ctx.Err() != nil {
		return nil
	}
	host := probe.Host()
	c := &machine.Cores{
		L2: int64(host.L2OrUsual()), L3: int64(host.L3), L3Cores: host.Sharing, Memory: bandwidth, Shared: probe.Shared(ctx, b.options.Threads),
		Task: b.emptyTask(ctx), Rates: map[tile.Dtype]machine.ProductRate{},
	}
	b.measureSharing(ctx, c)
	thin := kernels.Thin()
	rows := []int{8, 16, 24, 32, 48, 64, 96, 128}
	if b.options.brief {
		rows = rows[:2]
	}
	c.Rates[tile.Float32] = rateOf(ctx, b.options.Threads, rows, kernels.Float32, thin.Float32)
	c.Rates[tile.BFloat16] = rateOf(ctx, b.options.Threads, rows, kernels.BFloat16, thin.BFloat16)
	c.Rates[tile.Int8] = rateOf(ctx, b.options.Threads, rows, kernels.Int8, thin.Int8)
	if ctx.Err() != nil {
		return nil
	}
	return c
}

// rateOf is the rate of a path, with as many threads in use as share memory; thin is the
// one that reads B in place for few rows of A, which is tried for some numbers of rows.
func rateOf[S gemm.Source, C gemm.Sum](ctx context.Context, threads int, rows []int, p, thin *gemm.MicroKernels[S, C]) machine.ProductRate {
	r := timing.RateOf(ctx, p, threads)
	x := machine.ProductRate{
		Rows: p.MR, Columns: p.NR, Depth: p.KU, Few: p.FewColumns(), FLOPs: r.FLOPs, Fetch: r.Fetch, PackA: r.PackA, PackB: r.PackB, Direct: unpackedRows(threads, rows, thin),
	}
	if p.ReadsA(p.KU) {
		if x.InPlace = passes.RowsColumns; p.Words > 1 { // on tiles, for any number of columns
			x.InPlace = math.MaxInt32
		}
	}
	return x
}

// unpackedRows is up to how many rows of A, of those tried, some way to read B is cheaper than to
// pack it: the more rows there are, the more packing saves. For half of the fewest it is not measured.
func unpackedRows[S gemm.Source, C gemm.Sum](threads int, tried []int, thin *gemm.MicroKernels[S, C]) int {
	const apart = 4096 // bytes, as rows of many matrices are
	bytes := int64(threads * max(probe.Host().L2, 512<<10))
	i := sort.Search(len(tried), func(i int) bool {
		costs := timing.ReadCosts(thin, threads, tried[i], bytes, apart, 0)
		packed := costs[gemm.ReadPacked]
		for read, c := range costs {
			if read != gemm.ReadPacked && c.Multiply < packed.Pack+packed.Multiply {
				return false
			}
		}
		return true
	})
	if i == 0 {
		return tried[0] / 2
	}
	return tried[i-1]
}

// probeTime is how long a probe of what a launch costs repeats it.
const probeTime = 2 * time.Millisecond

// emptyLaunch is the seconds of a launch in which each of some workers has one program,
// of hardly anything, beside what that program takes: the mean of some launches.
func (b *Backend) emptyLaunch(ctx context.Context, workers, launches int) float64 {
	const line = 32 // elements of a program: no two workers write one pair of cache lines
	t := tile.New("probe")
	i := t.Axis("i", workers, tile.Parallel)
	x := t.In("x", tile.Float32, tile.Array(workers, line), tile.Block(1, line).At(i, tile.Const(0)))
	o := t.Out("o", tile.Float32, tile.Array(workers, line), tile.Block(1, line).At(i, tile.Const(0)))
	t.Store(o, x)
	return b.fastestLaunch(ctx, t, workers, launches)
}

// measureSharing measures what it costs cores to work together. The cores of a virtual machine
// may be moved from one moment to the next, so that it is the median of some measurements.
func (b *Backend) measureSharing(ctx context.Context, c *machine.Cores) {
	const most, apart, launches = 5, 5 * time.Millisecond, 64
	var figures [5][most]float64
	times := most
	if b.options.brief {
		times = 1
	}
	for i := range times {
		probe.Occupy(ctx, b.options.Threads, apart)
		s := probe.CoreToCore(ctx, b.options.Threads)
		for j, v := range [...]float64{b.emptyLaunch(ctx, b.options.Threads, launches), b.emptyLaunch(ctx, min(2, b.options.Threads), launches), s.Line, s.ReadOthers, s.WriteOthers} {
			figures[j][i] = v
		}
	}
	for j, v := range []*float64{&c.Launch, &c.Pair, &c.Line, &c.ReadOthers, &c.WriteOthers} {
		slices.Sort(figures[j][:times])
		*v = figures[j][times/2]
	}
}

// figures are those of a backend for so many workers, who run a program.
type figures struct {
	*Backend
	workers int
	program *tile.Program
}

// CoreToCore is as it was measured together with the rest of what blocks are ranked by, or else
// measured once a process.
func (f figures) CoreToCore() machine.CoreToCore {
	if f.probing.TryLock() {
		defer f.probing.Unlock()
		if m := f.probed; m != nil && m.Cores != nil && m.Threads == f.workers && m.Cores.Line > 0 {
			return m.Cores.CoreToCore
		}
	}
	return sharingOf(f.workers)
}

// ReadCosts is measured once a process for each kind of B, in some milliseconds, by about as many
// threads as the grid keeps at work.
func (f figures) ReadCosts(x *plan.Product, rows int, bytes int64, apart, depth int) map[gemm.ReadB]gemm.ReadCost {
	tasks := 1
	for _, a := range f.program.Grid {
		if a.Semantics == tile.Parallel && tasks < f.workers {
			tasks *= a.Size
		}
	}
	threads := min(f.workers, 1<<bits.Len(uint(tasks-1)))
	return timing.ReadCosts(x.Path, threads, rows, bytes, apart, depth)
}

func sharingOf(workers int) machine.CoreToCore {
	sharings.Lock()
	defer sharings.Unlock()
	s, ok := sharings.of[workers]
	if !ok {
		s = probe.CoreToCore(context.Background(), workers)
		sharings.of[workers] = s
	}
	return s
}

var sharings = struct {
	sync.Mutex
	of map[int]machine.CoreToCore
}{of: map[int]machine.CoreToCore{}}

// emptyTask is the seconds that a program takes beside its products: those of many
// products of one element, by one worker.
func (b *Backend) emptyTask(ctx context.Context) float64 {
	const side = 64
	t := tile.New("probe")
	i, j := t.Axis("i", side, tile.Parallel), t.Axis("j", side, tile.Parallel)
	zero := tile.Const(0)
	x := t.In("a", tile.Float32, tile.Array(side, 1), tile.Block(1, 1).At(i, zero))
	y := t.In("b", tile.Float32, tile.Array(1, side), tile.Block(1, 1).At(zero, j))
	o := t.Out("o", tile.Float32, tile.Array(side, side), tile.Block(1, 1).At(i, j))
	t.Store(o, tile.Dot(x, y))
	return b.fastestLaunch(ctx, t, 1, 1) / (side * side)
}

// fastestLaunch is the least seconds of a launch of t, of so many that follow each other.
func (b *Backend) fastestLaunch(ctx context.Context, t *tile.Builder, workers, launches int) float64 {
	programs, err := t.Programs()
	if err != nil {
		return 0
	}
	e, err := b.compile(ctx, programs, backend.Params{Threads: workers})
	if err != nil {
		return 0
	}
	defer e.Close()
	if e.Prepare(ctx) != nil {
		return 0
	}
	best := time.Duration(1 << 62)
	const least = 8 // disturbed ones are longer than all of the probe
	for begin, n := time.Now(), 0; n < least || time.Since(begin) < probeTime; n++ {
		s, err := e.Run(ctx, launches)
		if err != nil {
			return 0
		}
		best = min(best, s.Elapsed)
	}
	return best.Seconds() / float64(launches)
}
