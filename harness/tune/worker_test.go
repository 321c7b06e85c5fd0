//go:build unix

package tune

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/harness/tuned"
	"matladder/machine"
	"matladder/tile"
)

func TestMain(m *testing.M) {
	worker.Hook(map[string]worker.Opener{"fake": openFake, "pjrt": pjrt.Opener})
	flag.Parse()
	flag.Set("test.parallel", "8") // those of TestWorker wait more than they work
	os.Exit(m.Run())
}

// device is a backend in a worker, as a PJRT plugin is one: it measures, by loops on the
// device, and one block shape has a vice after a few runs.
type device struct {
	backend.Backend
	vice string
}

// vicious is what would win, were it only launched.
var vicious = tile.Blocks{M: 256, K: 512, N: 1024}

func openFake(_ context.Context, config []byte) (backend.Backend, error) {
	return &device{vice: string(config)}, nil
}

func (d *device) Name() string           { return "fake" }
func (d *device) Device() machine.Device { return machine.Device{Key: "fake", Names: []string{"fake"}} }
func (d *device) Close() error           { return nil }

func (d *device) Compile(_ context.Context, programs []*tile.Program, _ backend.Params) (backend.Executable, error) {
	b := blocksOf(programs[0])
	e := &deviceExe{b: b}
	if b == vicious {
		e.vice = d.vice
	}
	return e, nil
}

type deviceExe struct {
	backend.Executable
	b    tile.Blocks
	vice string
	runs int
}

func (e *deviceExe) LoadSeeded(context.Context, backend.InputSpec) error { return nil }
func (e *deviceExe) Close() error                                        { return nil }
func (e *deviceExe) Check(context.Context, backend.CheckSpec) (backend.CheckResult, error) {
	return backend.CheckResult{OK: true}, nil
}

func (e *deviceExe) Run(ctx context.Context, launches int) (backend.Sample, error) {
	if e.runs++; e.runs > 4 { // it passes the screening, and fails in its first round of the race
		switch e.vice {
		case "crashes":
			fmt.Fprintln(os.Stderr, "out of vectors")
			os.Exit(9)
		case "hangs":
			<-ctx.Done() // as a compiler does that looks at it; others are killed
			return backend.Sample{}, ctx.Err()
		case "stuck":
			time.Sleep(time.Hour)
		case "panics":
			panic("index out of range")
		case "refuses":
			return backend.Sample{}, backend.ErrUnsupported
		}
	}
	// To start the program takes as long as many launches.
	s := 3e-3 + float64(launches)*valley(e.b)/100
	return backend.Sample{Elapsed: time.Duration(s * 1e9), Method: "loop"}, nil
}

// TestWorker: on a backend in a worker, as plugins are, a block shape that crashes,
// hangs or fails in the middle of a race is out of it, and the others are measured on.
func TestWorker(t *testing.T) {
	t.Parallel()
	for _, vice := range []string{"none", "crashes", "hangs", "stuck", "panics", "refuses"} {
		t.Run(vice, func(t *testing.T) {
			t.Parallel()
			be, err := worker.Open(context.Background(), worker.Options{Opener: "fake", Config: []byte(vice), Grace: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer be.Close()
			u := &Tuner{Backend: be, Space: Space{Workers: 2, Most: 12}, Versions: "v", Timeout: 8 * time.Second} // which a busy machine takes to start a process, too
			j := job(4096)
			j.Known = []tuned.Answer{{Blocks: vicious}}
			row, err := u.Tune(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			if won := row.Blocks == vicious; won != (vice == "none") {
				t.Errorf("chose %s", row.Blocks)
			}
			if want := valley(row.Blocks) / 100; row.Evidence.Seconds < 0.99*want || row.Evidence.Seconds > 1.01*want {
				t.Errorf("a launch takes %g s, want %g: what starting takes is no part of it", row.Evidence.Seconds, want)
			}
		})
	}
}
