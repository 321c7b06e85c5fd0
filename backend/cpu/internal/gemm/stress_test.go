package gemm

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
	"matladder/internal/thoroughtest"
)

var stress = flag.Duration("stress", time.Second/time.Duration(thoroughtest.OneIn(1, 5, 5)), "how long TestStress runs")

// TestStress multiplies on the best instruction set of this machine from many
// more goroutines than processors, while the runtime collects garbage all the
// time, stacks grow, and every thread is interrupted by the signal by which
// the runtime preempts. Each result must be that of the kernels in Go, to the
// bit: a register lost on the way shows. A second of it at most runs with all tests;
// for minutes of it, and with collections that stop all goroutines:
//
//	GODEBUG=asyncpreemptoff=0,gcstoptheworld=2 \
//		go test ./backend/cpu/internal/gemm -run TestStress -v -timeout 0 -args -stress 10m
func TestStress(t *testing.T) {
	best, reference := For(Detect()), For(Generic)
	var jobs []stressJob
	for _, shape := range [][3]int{{96, 128, 4096}, {33, 31, 515}, {200, 96, 1000}} {
		m, n, k := shape[0], shape[1], shape[2]
		jobs = append(jobs,
			newStressJob(best.Float32, reference.Float32, m, n, k, smallNumber),
			newStressJob(best.BFloat16, reference.BFloat16, m, n, k, smallBFloat16),
			newStressJob(best.Int8, reference.Int8, m, n, k, anyByte))
		if p := best.TilesBFloat16; p != nil {
			jobs = append(jobs, newStressJob(p, reference.BFloat16, m, n, k, smallBFloat16))
		}
		if p := best.TilesInt8; p != nil {
			jobs = append(jobs, newStressJob(p, reference.Int8, m, n, k, anyByte))
		}
	}

	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var (
		over                       atomic.Bool
		products, wrong            atomic.Int64
		collections, signals, deep atomic.Int64
		wait                       sync.WaitGroup
	)
	disturb := func(count *atomic.Int64, work func() int) {
		wait.Go(func() {
			for !over.Load() {
				count.Add(int64(work()))
			}
		})
	}
	switches := involuntarySwitches()
	for g := range 16 * runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 19))
			for !over.Load() {
				job := jobs[r.IntN(len(jobs))]
				if err := job(); err != nil && wrong.Add(1) < 10 {
					t.Error(err)
				}
				products.Add(1)
			}
		})
	}
	disturb(&collections, func() int { runtime.GC(); time.Sleep(time.Millisecond); return 1 })
	disturb(&signals, func() int { time.Sleep(200 * time.Microsecond); return interruptThreads() })
	disturb(&deep, func() int { time.Sleep(time.Millisecond); return growStack(2000) })
	start := time.Now()
	for time.Since(start) < *stress {
		time.Sleep(10 * time.Millisecond)
	}
	over.Store(true)
	wait.Wait()
	t.Logf("%v, %v, %d threads: %d products, %d wrong; %d collections, %d signals to threads, %d switches by the system",
		best.ISA, time.Since(start).Round(time.Second/10), runtime.GOMAXPROCS(0),
		products.Load(), wrong.Load(), collections.Load(), signals.Load(), involuntarySwitches()-switches)
	if products.Load() == 0 {
		t.Error("no product was computed")
	}
}

// A stressJob computes a product anew, with memory of its own, and compares.
type stressJob func() error

func newStressJob[S Source, C Sum](p, reference *MicroKernels[S, C], m, n, k int, element func(*rand.Rand) S) stressJob {
	r := rand.New(rand.NewPCG(uint64(m), uint64(k)))
	a, b := make([]S, m*k), make([]S, k*n)
	for _, operand := range [][]S{a, b} {
		for i := range operand {
			operand[i] = element(r)
		}
	}
	multiply := func(p *MicroKernels[S, C]) []C {
		pa, pb, c := memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n)), make([]C, m*n)
		p.PackA(pa, a, k, m, k)
		p.PackB(pb, b, n, k, n)
		p.Block(c, n, m, n, k, pa, pb, false)
		return c
	}
	want := multiply(reference)
	return func() error {
		if got := multiply(p); !slices.Equal(got, want) {
			return fmt.Errorf("%s %d×%d×%d differs from %s", p.Name, m, n, k, reference.Name)
		}
		if !p.ReadsA(k) {
			return nil
		}
		ldc := ceil(n, cacheLine/wordBytes) * cacheLine / wordBytes
		c := unsafe.Slice((*C)(unsafe.Pointer(&memory.NewBuffer(m * ldc * wordBytes)[0])), m*ldc)
		pb := memory.NewBuffer(p.SizeB(k, n))
		p.PackB(pb, b, n, k, n)
		p.Multiply(Run[S]{Rows: a, LDA: k, B: pb, Write: WriteNonTemporal}, c, ldc, m, n, k, false)
		for i := range m {
			if !slices.Equal(c[i*ldc:][:n], want[i*n:][:n]) {
				return fmt.Errorf("%s %d×%d×%d from rows, by non-temporal stores: row %d differs from %s", p.Name, m, n, k, i, reference.Name)
			}
		}
		return nil
	}
}

// Numbers whose sums of thousands of products are exact in any order.

func smallNumber(r *rand.Rand) float32 { return float32(r.IntN(17) - 8) }

func smallBFloat16(r *rand.Rand) uint16 { return uint16(smallFloat(r) >> 16) }

func anyByte(r *rand.Rand) int8 { return int8(r.Uint32()) }

// growStack makes the runtime move the stack of a goroutine.
func growStack(depth int) int {
	done := make(chan int)
	go func() { done <- descend(depth) }()
	return <-done / depth
}

//go:noinline
func descend(depth int) int {
	var frame [128]byte
	if depth == 0 {
		return int(frame[depth])
	}
	return descend(depth-1) + 1
}
