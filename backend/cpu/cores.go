package cpu

import (
	"context"
	"math"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// measureCores measures what block shapes are ranked by (package kernels/blocking), in
// some hundred milliseconds. bandwidth is that of memory.
func (b *Backend) measureCores(ctx context.Context, bandwidth float64) *tile.Cores {
	kernels, err := kernelsOf(b.options.ISA)
	if err != nil || ctx.Err() != nil {
		return nil
	}
	host := probe.Host()
	c := &tile.Cores{
		L2: int64(host.L2), L3: int64(host.L3), Memory: bandwidth, Shared: probe.Shared(),
		Launch: emptyLaunch(b.options.Threads), Rates: map[tile.Dtype]tile.ProductRate{},
	}
	c.Task = b.emptyTask(ctx)
	thin := kernels.Thin()
	c.Rates[tile.Float32] = rateOf(b.options.Threads, kernels.Float32, thin.Float32)
	c.Rates[tile.BFloat16] = rateOf(b.options.Threads, kernels.BFloat16, thin.BFloat16)
	c.Rates[tile.Int8] = rateOf(b.options.Threads, kernels.Int8, thin.Int8)
	if ctx.Err() != nil {
		return nil
	}
	return c
}

// rateOf is the rate of a path, with as many threads in use as share memory; thin is the
// one that reads B in place for few rows of A.
func rateOf[S gemm.Source, C gemm.Sum](threads int, p, thin *gemm.Path[S, C]) tile.ProductRate {
	r := p.Rate()
	x := tile.ProductRate{
		Rows: p.MR, Columns: p.NR, Depth: p.KU, FLOPs: r.FLOPs, Fetch: r.Fetch, PackA: r.PackA, PackB: r.PackB, Direct: unpackedRows(threads, p, thin),
	}
	if p.ReadsA(p.KU) {
		if x.InPlace = passes.RowsColumns; p.Words > 1 { // on tiles, for any number of columns
			x.InPlace = math.MaxInt32
		}
	}
	return x
}

// unpackedRows is up to how many rows of A some way to read B is cheaper than to pack it.
func unpackedRows[S gemm.Source, C gemm.Sum](threads int, p, thin *gemm.Path[S, C]) int {
	const apart = 4096 // bytes, as rows of many matrices are
	bytes := int64(4 * threads * max(probe.Host().L2, 512<<10))
	most := 0
	for _, rows := range []int{4, 8, 12, 16, 24, 32, 48, 64, 96, gemm.MostRead} {
		packed := p.ReadCosts(threads, rows, bytes, apart)[gemm.ReadPacked]
		cheaper := false
		for read, c := range thin.ReadCosts(threads, rows, bytes, apart) {
			cheaper = cheaper || read != gemm.ReadPacked && c.Multiply < packed.Pack+packed.Multiply
		}
		if !cheaper {
			break
		}
		most = rows
	}
	return most
}

// probeTime is how long a probe of what a launch costs repeats it.
const probeTime = 4 * time.Millisecond

// emptyLaunch is the seconds from one launch to the next with nothing to do.
func emptyLaunch(workers int) float64 {
	c := exec.NewPool(workers)
	defer c.Close()
	c.StayAwake(true)
	nothing := func(int) {}
	best := time.Duration(1 << 62)
	const launches, rounds = 64, 8 // the first of which wakes the workers
	for range rounds {
		start := time.Now()
		for range launches {
			if c.Run(nothing) != nil {
				return 0
			}
		}
		best = min(best, time.Since(start)/launches)
	}
	return best.Seconds()
}

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
	programs, err := t.Programs()
	if err != nil {
		return 0
	}
	e, err := b.compile(ctx, programs, backend.Params{Threads: 1})
	if err != nil {
		return 0
	}
	defer e.Close()
	if e.Prepare(ctx) != nil {
		return 0
	}
	best := time.Duration(1 << 62)
	for begin := time.Now(); time.Since(begin) < probeTime; {
		s, err := e.Run(ctx, 1)
		if err != nil {
			return 0
		}
		best = min(best, s.Elapsed)
	}
	return best.Seconds() / (side * side)
}
