//go:build linux && cgo

package pjrt

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/worker"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// openWorker opens the CPU plugin in a child process.
func openWorker(t testing.TB, o worker.Options) *worker.Backend {
	t.Helper()
	config, err := Options{Name: "xla-cpu", Plugin: cpuPlugin(t)}.Config()
	if err != nil {
		t.Fatal(err)
	}
	o.Opener, o.Config = "pjrt", config
	be, err := worker.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { be.Close() })
	return be
}

// TestLoop_NotHoisted looks for the product in what XLA made of the loop: it
// must be in the body, and nowhere else.
func TestLoop_NotHoisted(t *testing.T) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		dir := t.TempDir()
		be := openWorker(t, worker.Options{Env: []string{"XLA_FLAGS=--xla_dump_hlo_as_text --xla_dump_to=" + dir}})
		baseline(t, be, backend.InputSpec{Problem: problem.New(128, 128, 128, d), Dist: check.Uniform}, backend.Params{})
		files, _ := filepath.Glob(filepath.Join(dir, "*.cpu_after_optimizations.txt"))
		products := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			entry := false
			for line := range strings.Lines(string(text)) {
				if !strings.HasPrefix(line, " ") {
					entry = strings.HasPrefix(line, "ENTRY")
				}
				if !strings.Contains(line, " dot(") && !strings.Contains(line, "custom-call(") && !strings.Contains(line, "kind=kCustom") {
					continue
				}
				if products++; entry {
					t.Errorf("%s: outside the loop: %s", d, strings.TrimSpace(line))
				}
			}
		}
		if products == 0 {
			t.Errorf("%s: no product in %v", d, files)
		}
	}
}

// TestRun_Grows runs one launch and many. Were the launches of a loop shared, or
// those of a chain run at the same time or not waited for, both would take as long.
func TestRun_Grows(t *testing.T) {
	be := openCPU(t, Options{})
	defer be.Close()
	for _, method := range []string{Loop, Chain} {
		e := baseline(t, be, backend.InputSpec{Problem: problem.New(256, 256, 256, tile.Float32), Dist: check.Uniform}, byMethod(method))
		const many = 64
		shortest := map[int]time.Duration{1: math.MaxInt64, many: math.MaxInt64}
		for range 5 {
			for n := range shortest {
				s, err := e.Run(context.Background(), n)
				if err != nil {
					t.Fatal(err)
				}
				shortest[n] = min(shortest[n], s.Elapsed)
			}
		}
		if shortest[many] < many/8*shortest[1] {
			t.Errorf("%s: %d launches take %v, one takes %v", method, many, shortest[many], shortest[1])
		}
	}
}
