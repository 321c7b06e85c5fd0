package probe

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"matladder/internal/thoroughtest"
	"matladder/machine"
)

func TestHost(t *testing.T) {
	h := Host()
	t.Logf("%+v", h)
	if h.Threads != runtime.NumCPU() || h.Cores < 1 || h.Cores > h.Threads {
		t.Errorf("%d cores, %d threads of %d processors", h.Cores, h.Threads, runtime.NumCPU())
	}
	if h.L1D < 0 || h.L2 > 0 && h.L2 < h.L1D || h.L3 > 0 && h.L3 < h.L2 {
		t.Errorf("caches do not grow outwards: %d, %d, %d bytes", h.L1D, h.L2, h.L3)
	}
}

func TestPeakFLOPs(t *testing.T) {
	ctx, run := context.Background(), thoroughtest.Choose(1, 3, 5)
	for _, isa := range []string{"generic", "avx2", "avx512", "amx"} {
		for _, dtype := range []string{"float32", "bfloat16", "int8"} {
			if loops(isa, dtype) == nil {
				t.Logf("not run: this processor has no %s", isa)
				continue
			}
			for _, threads := range []int{1, 3} {
				if !run() {
					continue
				}
				rate := PeakFLOPs(ctx, isa, dtype, threads)
				t.Logf("%s %s, %d threads: %.4g /s", isa, dtype, threads, rate)
				if !(rate > 0) {
					t.Errorf("%s %s, %d threads: %v", isa, dtype, threads, rate)
				}
			}
		}
	}
	for _, unknown := range [][2]string{{"sse9", "float32"}, {"generic", "complex64"}, {"avx2", ""}, {"avx512", "float3"}} {
		if rate := PeakFLOPs(ctx, unknown[0], unknown[1], 1); rate != 0 {
			t.Errorf("PeakFLOPs%q = %v, want 0", unknown, rate)
		}
	}
}

func TestBandwidth(t *testing.T) {
	run := thoroughtest.Choose(1, 2, 2) // one thread alone is a part of two
	for _, threads := range []int{1, 2} {
		if !run() {
			continue
		}
		s := NewStream(t.Context(), threads)
		rate := s.Bandwidth(t.Context(), threads)
		s.Free()
		t.Logf("%d threads: %.4g bytes/s", threads, rate)
		if !(rate > 0) {
			t.Errorf("%d threads: %v", threads, rate)
		}
	}
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rate := PeakFLOPs(ctx, "generic", "float32", 2); rate != 0 {
		t.Errorf("PeakFLOPs = %v, want 0", rate)
	}
	if s := NewStream(ctx, 2); s != nil {
		t.Errorf("NewStream = %v, want none", s)
	}
}

func TestRate(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	got := rate([]member{{at(10), at(20), 5}, {at(12), at(30), 7}})
	if want := 12 / 0.020; got != want {
		t.Errorf("rate = %v, want %v: all work by the time from first start to last end", got, want)
	}
}

// TestTeam wants every member in every round, and all members of a round to
// end before any of the next begins.
func TestTeam(t *testing.T) {
	const threads = 4
	var begun [threads]int
	var ended atomic.Int64
	rate := Team(context.Background(), threads, 0, func(m int) float64 {
		if n := ended.Load(); n < int64(begun[m]*threads) {
			t.Errorf("member %d begins round %d after %d ends", m, begun[m], n)
		}
		begun[m]++
		ended.Add(1)
		return 1
	})
	if begun != [threads]int{3, 3, 3, 3} || !(rate > 0) {
		t.Errorf("rounds %v at rate %v, want 3 each", begun, rate)
	}
}

// TestControl: both pieces of work take time, with any instruction set, and the memory
// is another piece each time until all have had their turn.
func TestControl(t *testing.T) {
	for _, isa := range []string{"generic", "avx2", "avx512", "amx", "sse9"} {
		for _, threads := range []int{1, 3} {
			c := NewControl(isa, threads)
			seen := map[int]bool{}
			for range 3 {
				seen[c.next] = true
				compute, memory := c.Run(context.Background())
				t.Logf("%s, %d threads: %v, %v", isa, threads, compute, memory)
				if compute <= 0 || memory <= 0 {
					t.Errorf("%s, %d threads: %v, %v", isa, threads, compute, memory)
				}
			}
			if len(seen) != 3 || len(c.pieces)*controlBytes < leastStream {
				t.Errorf("%d threads: %d of %d pieces begun with", threads, len(seen), len(c.pieces))
			}
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if compute, memory := NewControl("generic", 2).Run(ended); compute != 0 || memory != 0 {
		t.Errorf("%v, %v of a context that has ended", compute, memory)
	}
}

// TestSharing: figures where there are two threads, none of one, nor when the time is
// over; more threads than processors come to an end.
func TestSharing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	for _, threads := range []int{2, runtime.NumCPU() + 1} {
		if s := CoreToCore(ctx, max(2, threads)); !(s.Line > 0 && s.ReadOthers > 0 && s.WriteOthers > 0) {
			t.Errorf("%d threads: %+v", threads, s)
		}
	}
	if s := CoreToCore(ctx, 1); s != (machine.CoreToCore{}) {
		t.Errorf("one thread: %+v", s)
	}
	cancel()
	if s := CoreToCore(ctx, 2); s != (machine.CoreToCore{}) {
		t.Errorf("ended: %+v", s)
	}
}
