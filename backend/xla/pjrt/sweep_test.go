//go:build linux && cgo

package pjrt

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/worker"
	"matladder/harness"
	"matladder/results"
	"matladder/tile"
)

// saboteur sends the worker a signal in the middle of each run of one kernel.
type saboteur struct {
	backend.Backend
	pid    func() int
	kernel string
	signal syscall.Signal
}

func (s saboteur) Compile(ctx context.Context, ps []*tile.Program, params backend.Params) (backend.Executable, error) {
	e, err := backend.Compile(ctx, s.Backend, ps, params)
	if err == nil && ps[0].Name == s.kernel {
		e = sabotaged{e.(backend.Seeded), s}
	}
	return e, err
}

type sabotaged struct {
	backend.Seeded
	by saboteur
}

func (s sabotaged) Run(ctx context.Context, _ int) (backend.Sample, error) {
	pid := s.by.pid()
	time.AfterFunc(100*time.Millisecond, func() { syscall.Kill(pid, s.by.signal) })
	return s.Seeded.Run(ctx, 1<<30)
}

// TestSweep_LostWorkers loses the worker in each round of one kernel. That
// kernel's row says why; everything else is measured as if nothing had been.
func TestSweep_LostWorkers(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		status results.Status
		reason string
	}{
		{syscall.SIGKILL, results.Crashed, "killed by signal 9"},
		{syscall.SIGABRT, results.Crashed, "abort"},
		{syscall.SIGSTOP, results.Timeout, "stood still"},
	} {
		t.Run(test.signal.String(), func(t *testing.T) {
			be := openWorker(t, worker.Options{Silence: 3 * time.Second})
			config, err := harness.Parse("lost.yaml", []byte("sizes: [40x24x32]\nkernels: [0, 1, 3, 4]\ndtypes: [float32]\nrounds: {min: 2, max: 2}\ntimeout: 60s\n"))
			if err != nil {
				t.Fatal(err)
			}
			sweep, err := harness.Plan(t.Context(), config, be.Device(), backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := harness.Run(context.Background(), sweep, harness.Options{
				Backend:  saboteur{be, func() int { return child(t) }, "v3_block", test.signal},
				Baseline: be, Out: filepath.Join(t.TempDir(), "rows.csv"),
				Provenance: harness.Provenance{RunID: "lost", StartedAt: time.Now()},
			})
			if err != nil {
				t.Fatal(err)
			}
			rows := map[string]int{}
			for _, r := range out.Rows {
				want, reason := results.OK, ""
				if r.Kernel == "v3_block" {
					want, reason = test.status, test.reason
				}
				if r.Status != want || !strings.Contains(r.Reason, reason) {
					t.Errorf("%s: %s: %s", r.Kernel, r.Status, r.Reason)
				}
				rows[r.Kernel]++
			}
			if rows["v3_block"] != 1 || rows["xla"] < 4 || rows["v1_naive"] < 4 || rows["v4_optblock"] < 4 { // more where rounds were disturbed
				t.Errorf("rows: %v", rows)
			}
		})
	}
}
