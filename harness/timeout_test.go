package harness

import (
	"context"
	"path/filepath"
	"testing"

	"matladder/results"
)

// TestResume_Timeout: a point that had been well within the limit and once took longer is
// measured again by who resumes; one that did so twice, or never was within it, is not.
func TestResume_Timeout(t *testing.T) {
	c := small(t, "kernels: [3]\n")
	dir := t.TempDir()
	whole := mustRun(t, c, newFake(), filepath.Join(dir, "whole.csv"))
	for name, k := range map[string]struct {
		ok, timeouts int // rounds
		again        bool
	}{"once": {2, 1, true}, "twice": {2, 2, false}, "never ok": {0, 1, false}} {
		path := filepath.Join(dir, name+".csv")
		journal, err := results.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for round := range k.ok + k.timeouts {
			var rows []results.Record
			for _, r := range whole.Rows {
				if r.Kernel == "v3_block" && r.Round == round {
					if round >= k.ok {
						r.Status, r.Reason, r.Seconds = results.Timeout, "4 launches took longer than 10m0s", 0
					}
					rows = append(rows, r)
				}
			}
			if err := journal.Append(rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		f := newFake()
		opt := options(f, path)
		opt.Resume = true
		out, err := start(context.Background(), plan(t, c, f), opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		audit(t, path, out)
		for key, p := range history(out.Rows) {
			if key.Kernel == "v3_block" && (p.rounds > k.ok+k.timeouts) != k.again {
				t.Errorf("%s: v3_block %s %s has %d rounds", name, key.Shape, key.DtypeA, p.rounds)
			}
		}
	}
}
