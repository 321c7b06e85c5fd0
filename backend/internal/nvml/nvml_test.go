//go:build linux && (amd64 || arm64)

package nvml

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/internal/ccompilertest"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// fake has readers find a library of no driver, which does what words say.
func fake(t *testing.T) func(words string) {
	t.Helper()
	dir := t.TempDir()
	ccompilertest.Shared(t, filepath.Join(dir, libraryName), "testdata/fake.c")
	t.Setenv("LD_LIBRARY_PATH", dir)
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	t.Setenv("CUDA_DEVICE_ORDER", "")
	return func(words string) { t.Setenv("FAKE_NVML", words) }
}

// TestGauge reads what a library says, as far as it says anything.
func TestGauge(t *testing.T) {
	set := fake(t)
	all := backend.Gauge{
		Name: "NVIDIA H100 80GB HBM3", ClockHertz: 1980e6, MemoryClockHertz: 2619e6, Celsius: 71, Watts: 699.5, Throttles: "none",
		Throttled: time.Second, Capped: 5 * time.Second, SumsKnown: true, Joules: 5000.5, JoulesKnown: true, MemoryBytes: 80 << 30, UsedBytes: 71 << 30, OthersKnown: true,
	}
	for words, change := range map[string]func(*backend.Gauge){
		"":           func(*backend.Gauge) {},
		"own":        func(*backend.Gauge) {},
		"own others": func(g *backend.Gauge) { g.OthersBytes = 3 << 30 },
		"others":     func(g *backend.Gauge) { g.OthersKnown = false }, // numbered by somebody else
		"own hidden": func(g *backend.Gauge) { g.OthersKnown = false },
		"crowded":    func(g *backend.Gauge) { g.OthersKnown = false },
		"strange":    func(g *backend.Gauge) { g.Throttles = "power+0x10000" },
		"bare": func(g *backend.Gauge) {
			*g = backend.Gauge{Name: g.Name, ClockHertz: g.ClockHertz, MemoryClockHertz: g.MemoryClockHertz, Celsius: g.Celsius}
		},
	} {
		set(words)
		want := all
		change(&want)
		r, got, err := Open(t.Context(), 0)
		if err != nil {
			t.Errorf("%q: %v", words, err)
			continue
		}
		if !want.OthersKnown {
			got.OthersBytes = 0
		}
		if got != want {
			t.Errorf("%q:\n%+v, want\n%+v", words, got, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, ok := r.Gauge(t.Context()); ok {
			t.Error("a closed reader reads")
		}
	}
	set("hot")
	r, first, err := Open(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	second, ok := r.Gauge(t.Context())
	if !ok || second.Throttles != "power+heat" || second.ClockHertz != 1411e6 || second.Throttled-first.Throttled != time.Second {
		t.Errorf("%v %+v after %+v", ok, second, first)
	}
}

// TestOpen_Fails: each way in which there is nothing to read is one line, and takes no
// longer than its limit.
func TestOpen_Fails(t *testing.T) {
	set := fake(t)
	for words, want := range map[string]string{
		"unloaded": "Init: Driver Not Loaded",
		"crash":    "crashed: ",
		"mixed":    "several kinds: set CUDA_DEVICE_ORDER=PCI_BUS_ID",
		"stuck":    "no answer within " + openLimit.String(),
	} {
		set(words)
		start := time.Now()
		if _, _, err := Open(t.Context(), 0); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", words, err)
		}
		if took := time.Since(start); took > 4*openLimit {
			t.Errorf("%s: took %v", words, took)
		}
	}
	set("")
	if _, _, err := Open(t.Context(), 2); err == nil {
		t.Error("a missing GPU")
	}
	t.Setenv("LD_LIBRARY_PATH", t.TempDir())
	if _, _, err := Open(t.Context(), 0); err == nil || !strings.Contains(err.Error(), libraryName) || strings.Contains(err.Error(), "\n") {
		t.Errorf("no library: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Open(ctx, 0); err == nil {
		t.Error("canceled")
	}
}

// TestGauge_Ends: a library that no longer answers, or that tells of a GPU that is gone,
// costs one wait, and nothing is left running.
func TestGauge_Ends(t *testing.T) {
	set := fake(t)
	set("late")
	r, _, err := Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	pid := r.child.Pid()
	start := time.Now()
	for range 3 {
		if g, ok := r.Gauge(t.Context()); ok {
			t.Errorf("%+v", g)
		}
	}
	if took := time.Since(start); took < readLimit || took > 10*readLimit {
		t.Errorf("three questions of a library that hangs took %v", took)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
		t.Error("the reader still runs")
	}
	r.Close()

	set("lost")
	if r, _, err = Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if g, ok := r.Gauge(t.Context()); !ok || g.ClockHertz != 0 {
		t.Errorf("%v %+v", ok, g)
	}
}

// TestVisible finds the GPU behind a number as CUDA does.
func TestVisible(t *testing.T) {
	for _, test := range []struct {
		list   string
		device int
		want   question
		ok     bool
	}{
		{"", 1, question{Index: 1}, true},
		{"3,1", 1, question{Index: 1}, true},
		{"3, 1", 0, question{Index: 3}, true},
		{"GPU-second", 0, question{UUID: "GPU-second"}, true},
		{"3", 1, question{}, false},
		{"MIG-5", 0, question{}, false},
		{"-1", 0, question{}, false},
	} {
		if got, err := visible(test.list, test.device); got != test.want || (err == nil) != test.ok {
			t.Errorf("%q %d: %+v, %v", test.list, test.device, got, err)
		}
	}
	set := fake(t)
	set("mixed")
	t.Setenv("CUDA_VISIBLE_DEVICES", "GPU-second")
	r, g, err := Open(t.Context(), 0)
	if err != nil || g.Name != "NVIDIA L4" {
		t.Errorf("%+v, %v", g, err)
	}
	r.Close()
	if descends(os.Getpid(), 1<<30) || !descends(os.Getpid(), os.Getppid()) || descends(0, 1<<30) {
		t.Error("descends")
	}
}
