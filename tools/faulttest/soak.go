//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"matladder/backend"
	"matladder/harness"
	"matladder/machine"
	"matladder/results"
	"matladder/tile"
)

// soak measures many points on a backend that computes nothing, in this process, and watches
// what it holds from point to point. Rows are kept in memory on purpose, for a results file
// that is removed (docs/notebook/reliability.md): of memory they are counted out, with what is theirs.
func (t *tester) soak() error {
	var sizes []string // m×k×n, so that each is a problem of its own
	for n := range (t.points + 1) / 2 {
		sizes = append(sizes, fmt.Sprintf("%dx%dx%d", 1+n%32, 1+n/32%32, 1+n/1024))
	}
	text := "sizes: [" + strings.Join(sizes, ", ") + "]\nkernels: [1, 3]\ndtypes: [float32]\nrounds: {min: 1, max: 1}\nrepetitions: 1\n"
	config, err := harness.Parse("soak.yaml", []byte(text))
	if err != nil {
		return err
	}
	b := idle{}
	sweep, err := harness.Plan(t.ctx, config, b.Device(), backend.Params{})
	if err != nil {
		return err
	}
	out := filepath.Join(t.folder, "soak.csv")
	var loads []load
	points, next := 0, min(1000, t.points/4)
	outcome, err := harness.Run(t.ctx, sweep, harness.Options{
		Backend: b, Provenance: harness.NewProvenance("soak", time.Now(), config.Family), Out: out,
		Observe: func(e harness.Event) {
			if points += len(e.Rows); points < next {
				return
			}
			l := held(points)
			fmt.Fprintf(t.out, "  %d points: %s\n", points, l)
			loads, next = append(loads, l), next+max(1000, t.points/20)
		},
	})
	if err != nil {
		return err
	}
	for i := range outcome.Rows {
		if r := &outcome.Rows[i]; r.Status != results.OK {
			return fmt.Errorf("%s: %s", r.Status, r.Reason)
		}
	}
	if points != t.points+t.points%2 {
		return fmt.Errorf("%d rows of %d points", points, t.points)
	}
	if len(loads) < 2 {
		return fmt.Errorf("%w: over too soon to be watched", errLeftOut)
	}
	first, last := loads[0], loads[len(loads)-1]
	if last.memory > 1.05*first.memory ||
		last.goroutines > first.goroutines || last.threads > first.threads+2 || last.descriptors > first.descriptors || last.children > 0 {
		t.fail("from point %d: %s; to point %d: %s", first.points, first, last.points, last)
		return nil
	}
	t.ok("from point %d: %s; to point %d: %s", first.points, first, last.points, last)
	return nil
}

// ownBytes is what a row holds beside its record: the text of its shape, and the key by which
// the journal finds it, in a map that has room for up to twice as many.
const ownBytes = 16 + 2*(8+4+4+1)

// A load is what this process holds.
type load struct {
	points                                     int
	memory, rows                               float64 // MB in use, and of rows
	goroutines, threads, descriptors, children int
}

func (l load) String() string {
	return fmt.Sprintf("%.1f MB beside %.1f MB of rows, %d goroutines, %d threads, %d descriptors, %d children", l.memory, l.rows, l.goroutines, l.threads, l.descriptors, l.children)
}

func held(points int) load {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	l := load{points: points, goroutines: runtime.NumGoroutine()}
	l.rows = float64(points) * float64(unsafe.Sizeof(results.Record{})+ownBytes) / 1e6
	l.memory = float64(m.HeapAlloc)/1e6 - l.rows
	if list, err := os.ReadDir("/proc/self/task"); err == nil {
		l.threads = len(list)
	}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		l.descriptors = len(list)
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())); err == nil {
		l.children = len(strings.Fields(string(text)))
	}
	return l
}

// idle is a backend that computes nothing, in a millisecond by its own word.
type idle struct{}

func (idle) Name() string { return "idle" }

func (idle) Device() machine.Device {
	known := func(v float64) machine.Figure { return machine.Figure{Value: v, Source: "made up"} }
	return machine.Device{
		Key: "idle", Names: []string{"Idle"}, Kind: machine.TPU, Parallel: 2, Peak: map[string]machine.Figure{"float32": known(1e12)},
		BandwidthBytesPerSecond: known(1e11), MemoryBytes: known(1 << 30), LastLevelCacheBytes: known(1 << 20),
	}
}

func (idle) Compile(context.Context, []*tile.Program, backend.Params) (backend.Executable, error) {
	return idleExe{}, nil
}

func (idle) Close() error { return nil }

type idleExe struct{}

func (idleExe) LoadSeeded(context.Context, backend.InputSpec) error { return nil }
func (idleExe) Load(...tile.Tensor) error                           { return nil }
func (idleExe) Results(...tile.Tensor) error                        { return nil }
func (idleExe) Poison(context.Context) error                        { return nil }
func (idleExe) Close() error                                        { return nil }

func (idleExe) Run(_ context.Context, launches int) (backend.Sample, error) {
	return backend.Sample{Elapsed: time.Duration(launches) * time.Millisecond, Method: "direct"}, nil
}

func (idleExe) Check(_ context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	return backend.CheckResult{OK: spec.Fault == ""}, nil
}
