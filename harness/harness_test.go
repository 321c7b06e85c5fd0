package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/harness/measure"
	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/results"
)

// small is a sweep that the fake measures in no time.
func small(t testing.TB, more string) Config {
	t.Helper()
	c, err := Parse("small.yaml", []byte("sizes: [16x24x40, 32]\ndtypes: [float32, int8]\nrounds: {min: 6, max: 8}\n"+more))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(more, "kernels:") {
		c.Kernels = rungs
	}
	return c
}

// rungs are the kernels that tests count on; more may follow them.
var rungs = []int{1, 2, 3, 4, 5}

func plan(t testing.TB, c Config, f *fake) Sweep {
	t.Helper()
	s, err := Plan(t.Context(), c, f.device, backend.Params{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	s.Skip(errors.New("no plugin"))
	return s
}

func options(f *fake, path string) Options {
	return Options{Backend: f, Out: path,
		Provenance: Provenance{RunID: "test", StartedAt: f.clock, Version: "v0", Host: "here"}}
}

func mustRun(t *testing.T, c Config, f *fake, path string) Outcome {
	t.Helper()
	out, err := start(context.Background(), plan(t, c, f), options(f, path), f.now)
	if err != nil {
		t.Fatal(err)
	}
	audit(t, path, out)
	return out
}

// audit checks that the file holds exactly the outcome's rows, each (point,
// round, rep) once and the rounds of each point without gaps.
func audit(t *testing.T, path string, out Outcome) {
	t.Helper()
	f, err := results.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings()) > 0 || len(f.Rows) != len(out.Rows) {
		t.Fatalf("file has %d rows, outcome %d; warnings: %v", len(f.Rows), len(out.Rows), f.Warnings())
	}
	type cell struct {
		key        results.PointKey
		round, rep int
	}
	for _, r := range out.Rows {
		if r.Pos.File != path {
			t.Fatalf("a row of %q among those of %s", r.Pos.File, path)
		}
	}
	seen := map[cell]bool{}
	rounds := map[results.PointKey]map[int]bool{}
	for i := range f.Rows {
		r := &f.Rows[i]
		c := cell{identity(r), r.Round, r.Rep}
		if seen[c] {
			t.Errorf("row doubled: %+v", c)
		}
		seen[c] = true
		if rounds[c.key] == nil {
			rounds[c.key] = map[int]bool{}
		}
		rounds[c.key][r.Round] = true
	}
	for key, set := range rounds {
		for round := range len(set) {
			if !set[round] {
				t.Errorf("%s %s: round %d of %d is lost", key.Kernel, key.Shape, round, len(set))
			}
		}
	}
}

func TestRun(t *testing.T) {
	f := newFake()
	c := small(t, "repetitions: 2\n")
	var events []Event
	path := filepath.Join(t.TempDir(), "deep", "rows.csv")
	opt := options(f, path)
	opt.Observe = func(e Event) { events = append(events, e) }
	s := plan(t, c, f)
	out, err := start(context.Background(), s, opt, f.now)
	if err != nil {
		t.Fatal(err)
	}
	audit(t, path, out)
	points := history(out.Rows)
	if want := s.Estimate().Points; len(points) != want || want != 4*5 {
		t.Errorf("%d points have rows, want %d", len(points), want)
	}
	for key, p := range points {
		if p.ended || p.rounds != 6 || len(p.samples) != 12 {
			t.Errorf("%s %s %s: %+v; with 1%% of jitter 6 rounds of 2 are narrow", key.Kernel, key.DtypeA, key.Shape, p)
		}
	}
	for _, r := range out.Rows {
		if r.Status != results.OK || !r.ErrOverBound.Known || r.RunID != "test" || r.FLOPs != 2*int64(r.M)*int64(r.K)*int64(r.N) ||
			r.PeakFLOPs == 0 || r.Threads != 2 || r.Method != results.Direct {
			t.Fatalf("row: %+v", r)
		}
		if n := r.Launches &^ 1; r.Seconds < measure.Shortest.Seconds() || n&(n-1) != 0 {
			t.Errorf("%d launches took %g s; want a power of two, or one more, and at least %s", r.Launches, r.Seconds, measure.Shortest)
		}
	}
	done := 0.0
	for _, e := range events {
		if e.Done < done || e.Done > 1 {
			t.Errorf("progress goes from %g to %g", done, e.Done)
		}
		done = e.Done
	}
	if done < 0.999 {
		t.Errorf("progress ends at %g", done)
	}
}

// TestRun_Order checks that points take turns, in an order that changes from
// round to round and is the same for the same seed.
func TestRun_Order(t *testing.T) {
	orders := func(seed string) (rounds []string) {
		f := newFake()
		c := small(t, "seed: "+seed+"\n")
		c.Sizes, c.Asked = c.Sizes[:1], c.Asked[:1]
		out := mustRun(t, c, f, filepath.Join(t.TempDir(), "rows.csv"))
		for group := range slices.Chunk(out.Rows, 5) {
			var names []string
			for _, r := range group {
				names = append(names, r.Kernel)
			}
			rounds = append(rounds, strings.Join(names, " "))
			slices.Sort(names)
			if len(slices.Compact(names)) != 5 {
				t.Errorf("a round without one of the kernels: %v", names)
			}
		}
		return rounds
	}
	first, again, other := orders("1"), orders("1"), orders("2")
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("orders of seed 1: %v, again: %v, of seed 2: %v", first, again, other)
	}
	if slices.Sort(first); len(slices.Compact(first)) < 3 {
		t.Errorf("rounds repeat one order: %v", first)
	}
}

func TestRun_Statuses(t *testing.T) {
	run := thoroughtest.Choose(1, 1, 3)
	for _, c := range []struct {
		name   string
		do     do
		status results.Status
		reason string
	}{
		{"too big", do{compile: &backend.TooBigError{What: "VMEM", Needed: 20, Limit: 10}}, results.TooBig, "needs 20 bytes of VMEM, has 10"},
		{"unsupported", do{compile: backend.ErrUnsupported}, results.Unsupported, "unsupported"},
		{"does not compile", do{compile: errors.New("internal compiler error")}, results.Failed, "internal compiler error"},
		{"no inputs", do{load: errors.New("device lost")}, results.Failed, "inputs: device lost"},
		{"fails", do{run: errors.New("device lost")}, results.Failed, "device lost"},
		{"fails later", do{run: errors.New("device lost"), after: 118}, results.Failed, "device lost"},
		{"hangs", do{hang: true}, results.Timeout, "took longer than"},
		{"hangs later", do{hang: true, after: 118}, results.Timeout, "took longer than"},
		{"crashes", do{crash: true}, results.Crashed, "panic: segmentation violation"},
		{"wrong", do{fault: check.FaultTile}, results.Wrong, "must be exactly"},
		{"wrong later", do{fault: check.FaultNaN, after: 118}, results.Wrong, "should be"},
		{"cannot be checked", do{check: errors.New("pipe closed")}, results.Failed, "check: pipe closed"},
		{"too fast", do{fast: true}, results.Impossible, "above the"},
		{"too fast and cannot be checked", do{fast: true, check: errors.New("pipe closed")}, results.Impossible, "above the"},
		{"does not close", do{close: errors.New("busy")}, results.Failed, "close: busy"},
		{"does not close between rounds", do{close: errors.New("busy")}, results.Failed, "close: busy"},
	} {
		if !run() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			f.misdo = map[string]do{"v3_block": c.do}
			cfg := small(t, "kernels: [1, 3]\ntimeout: 20ms\nblocks: 16x16x16\n")
			if strings.HasSuffix(c.name, "between rounds") { // too little memory to stay open
				f.device.MemoryBytes.Value = 1 << 15
			}
			out := mustRun(t, cfg, f, filepath.Join(t.TempDir(), "rows.csv"))
			for key, p := range history(out.Rows) {
				if key.Kernel != "v3_block" && (p.ended || p.rounds < cfg.MinRounds) {
					t.Errorf("%s suffers with it: %+v", key.Kernel, p)
				}
			}
			var ended int
			for _, r := range out.Rows {
				if r.Kernel != "v3_block" || r.Status == results.OK {
					continue
				}
				ended++
				if r.Status != c.status || !strings.Contains(r.Reason, c.reason) {
					t.Errorf("%s: %s, want %s: %s", r.Status, r.Reason, c.status, c.reason)
				}
			}
			if ended != 4 {
				t.Errorf("%d rows end v3_block's 4 points", ended)
			}
		})
	}
}

func TestRun_Unmeasured(t *testing.T) {
	f := newFake()
	f.device.MemoryBytes.Value = 1 << 16
	c := small(t, "kernels: [0, 4, 5]\nblocks: [16x16x16, 64x64x64]\n")
	c.Sizes = append(c.Sizes, problem.Sizes{4096, 4096, 4096, 1})
	more, err := ParseDtypes(problem.MatmulFamily, "int4")
	if err != nil {
		t.Fatal(err)
	}
	c.Asked = append(c.Asked, more...)
	out := mustRun(t, c, f, filepath.Join(t.TempDir(), "rows.csv"))
	count := map[results.Status]int{}
	for _, r := range out.Rows {
		if r.Status != results.OK {
			count[r.Status]++
		}
		if r.Kernel == results.Baseline && (r.Status != results.Skipped || r.Reason != "no plugin") {
			t.Errorf("the baseline is %s: %s", r.Status, r.Reason)
		}
	}
	// 9 problems; int4 on 2 kernels × 3 shapes; 4096 on 2 kernels × 2 blocks × 2 dtypes.
	if count[results.Skipped] != 9 || count[results.Unsupported] != 6 || count[results.TooBig] != 8 || len(count) != 3 {
		t.Errorf("statuses: %v", count)
	}
}

func TestRun_Faults(t *testing.T) {
	run := thoroughtest.Choose(1, 1, 3)
	for _, fault := range check.Faults() {
		if !run() {
			continue
		}
		f := newFake()
		opt := options(f, filepath.Join(t.TempDir(), "rows.csv"))
		opt.Fault = fault
		out, err := start(context.Background(), plan(t, small(t, ""), f), opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Rows {
			if r.Status != results.Wrong || r.Reason == "" {
				t.Errorf("fault %s: %s is %s: %s", fault, r.Kernel, r.Status, r.Reason)
			}
		}
		if len(out.Rows) != 20 {
			t.Errorf("fault %s: %d rows, want one for each of 20 points", fault, len(out.Rows))
		}
	}
}

func TestRun_BrokenCheck(t *testing.T) {
	f := newFake()
	f.blind = true
	path := filepath.Join(t.TempDir(), "rows.csv")
	out, err := start(context.Background(), plan(t, small(t, ""), f), options(f, path), f.now)
	if err == nil || !strings.Contains(err.Error(), "the check is broken") || len(out.Rows) != 0 {
		t.Errorf("a check that sees nothing: %v, %d rows", err, len(out.Rows))
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file without rows is left: %v", err)
	}
}

func TestRun_TimeBudget(t *testing.T) {
	for _, c := range []struct {
		budget, jitter string
		rounds         [2]int // fewest and most of a point
	}{
		{"1ns", "", [2]int{1, 1}},
		{"1.6s", "", [2]int{2, 7}},
		{"0s", "", [2]int{8, 8}},
	} {
		f := newFake()
		f.jitter = 0.5 // never narrow
		begin := f.clock
		cfg := small(t, "time_budget: "+c.budget+"\n")
		out := mustRun(t, cfg, f, filepath.Join(t.TempDir(), "rows.csv"))
		fewest, most := 100, 0
		for _, p := range history(out.Rows) {
			fewest, most = min(fewest, p.rounds), max(most, p.rounds)
		}
		if fewest < c.rounds[0] || most > c.rounds[1] {
			t.Errorf("budget %s: %d to %d rounds, want %v", c.budget, fewest, most, c.rounds)
		}
		// A round begins if the last one would have fitted, and may take longer than that.
		if spent := f.clock.Sub(begin); cfg.TimeBudget > time.Millisecond && spent > cfg.TimeBudget+cfg.TimeBudget/10 {
			t.Errorf("budget %s: spent %s", c.budget, spent)
		}
	}
}

// TestRun_Memory checks that executables which do not fit together are opened
// one after another, and that all are closed in the end.
func TestRun_Memory(t *testing.T) {
	for _, c := range []struct {
		memory float64
		anew   bool
	}{{1 << 30, false}, {64 << 10, true}} {
		f := newFake()
		f.device.MemoryBytes.Value = c.memory
		cfg := small(t, "")
		cfg.Sizes, cfg.Asked = cfg.Sizes[1:], cfg.Asked[:1]
		mustRun(t, cfg, f, filepath.Join(t.TempDir(), "rows.csv"))
		if got := f.compiles > len(rungs)+1; got != c.anew || f.open != 0 || f.most > int64(c.memory) {
			t.Errorf("memory %g: %d compilations, at most %d bytes open, %d left open", c.memory, f.compiles, f.most, f.open)
		}
	}
}
