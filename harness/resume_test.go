package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"matladder/internal/thoroughtest"
)

// TestResume_CutAnywhere cuts a finished file short, as a kill would, and
// resumes: what was whole is kept byte for byte, the rest is measured, nothing
// twice.
func TestResume_CutAnywhere(t *testing.T) {
	c := small(t, "kernels: [1, 3, 4]\n")
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.csv")
	mustRun(t, c, newFake(), whole)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cut.csv")
	cuts := 12 / thoroughtest.OneIn(1, 2, 4)
	for i := range cuts + 1 {
		cut := len(text) * i / cuts
		if err := os.WriteFile(path, text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		f := newFake()
		opt := options(f, path)
		opt.Resume = true
		out, err := start(context.Background(), plan(t, c, f), opt, f.now)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		audit(t, path, out)
		resumed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if kept := len(text[:cut]) - int(out.Repair.Bytes); !bytes.Equal(resumed[:kept], text[:kept]) {
			t.Errorf("cut at %d: the first %d bytes have changed", cut, kept)
		}
		for key, p := range history(out.Rows) {
			if p.rounds < c.MinRounds || p.rounds > c.MaxRounds {
				t.Errorf("cut at %d: %s %s has %d rounds", cut, key.Kernel, key.Shape, p.rounds)
			}
		}
		if got := len(history(out.Rows)); got != 12 {
			t.Errorf("cut at %d: %d points, want 12", cut, got)
		}
		if cut == len(text) && out.New != 0 {
			t.Errorf("a complete sweep is measured again: %d rows", out.New)
		}
	}
}

// TestResume_Cancelled interrupts in the middle, thrice, and goes on.
func TestResume_Cancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := small(t, "")
	var before int
	for i, stop := range []int{8, 40, 27, 10000} {
		f := newFake()
		ctx, cancel := context.WithCancel(context.Background())
		opt := options(f, path)
		opt.Resume = i > 0
		events := 0
		opt.Observe = func(e Event) {
			if events++; events == stop {
				cancel()
			}
		}
		out, err := start(ctx, plan(t, c, f), opt, f.now)
		if cancelled := errors.Is(err, context.Canceled); cancelled != (stop < 10000) || err != nil && !cancelled {
			t.Fatalf("execution %d: %v", i, err)
		}
		audit(t, path, out)
		if f.open != 0 {
			t.Errorf("execution %d leaves %d bytes open", i, f.open)
		}
		if got := len(out.Rows) - out.New; got != before {
			t.Errorf("execution %d finds %d rows, the last one left %d", i, got, before)
		}
		before = len(out.Rows)
		cancel()
	}
	if want := 4 * 5 * 6; before != want {
		t.Errorf("%d rows in the end, want %d", before, want)
	}
}

// TestResume_Other checks what resuming must tell apart: another machine, another
// program and other blocks are other points; a point that ended stays ended.
func TestResume_Other(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := small(t, "kernels: [4]\nblocks: 16x16x16\n")
	f := newFake()
	f.misdo = map[string]do{"v4_optblock": {run: errors.New("device lost"), after: 6}}
	first := mustRun(t, c, f, path)

	resume := func(c Config, f *fake, version string) Outcome {
		opt := options(f, path)
		opt.Resume, opt.Provenance.Version = true, version
		out, err := start(context.Background(), plan(t, c, f), opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		audit(t, path, out)
		return out
	}
	if out := resume(c, newFake(), "v0"); out.New != 0 || len(out.Rows) != len(first.Rows) {
		t.Errorf("points that ended are measured again: %d rows", out.New)
	}
	if out := resume(c, newFake(), "v0.1"); out.New != 4*6 {
		t.Errorf("with changed kernels: %d rows, want 4 points of 6 rounds", out.New)
	}
	f = newFake()
	f.device.Key = "fake2"
	if out := resume(c, f, "v0"); out.New != 4*6 {
		t.Errorf("on another machine: %d rows, want 4 points of 6 rounds", out.New)
	}
	other := small(t, "kernels: [4]\nblocks: 8x16x16\n")
	if out := resume(other, newFake(), "v0"); out.New != 4*6 {
		t.Errorf("with other blocks: %d rows, want 4 points of 6 rounds", out.New)
	}
}

func TestRun_Refuses(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.csv")
	if err := os.WriteFile(taken, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	f := newFake()
	_, err := start(context.Background(), plan(t, small(t, ""), f), options(f, taken), f.now)
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("existing results: %v", err)
	}
	if text, _ := os.ReadFile(taken); string(text) != "mine" {
		t.Errorf("existing results are now %q", text)
	}
	opt := options(f, filepath.Join(taken, "rows.csv"))
	if _, err := start(context.Background(), plan(t, small(t, ""), f), opt, f.now); err == nil {
		t.Error("a file serves as a folder")
	}
	if len(f.order) != 0 {
		t.Errorf("%d programs ran before the folder was checked", len(f.order))
	}
}
