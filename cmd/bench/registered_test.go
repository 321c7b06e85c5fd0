package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend/registry/registrytest"
	"matladder/internal/cli"
	"matladder/results"
)

// TestRegistered: a backend that is in the registry is one of bench's, with its help,
// parameters and mistakes.
func TestRegistered(t *testing.T) {
	registrytest.Run(t, func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "rows.csv")
		for args, want := range map[string]string{
			"--help":                           ", aot-gpu, abacus)",
			"--backend help":                   "abacus   beads on wires\n",
			"--backend abacus --param help":    "beads      a number from 1 to 100  beads on a wire  10\n",
			"--backend abacus --param beads=0": "--param beads=0: want a number from 1 to 100\n",
			"--backend abacus --topology v5e":  "--backend abacus measures: ",
			"--backend abacus --param beads=7 --kernel 0,1,4 --sizes 48 --dtype float32 --time-budget 1ms --out " + out: "7 beads: ",
		} {
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), strings.Fields(args), &stdout, &stderr)
			if text := stdout.String() + stderr.String(); !strings.Contains(text, want) || code == cli.Failed {
				t.Errorf("bench %s: exit %d, want %q in\n%s", args, code, want, text)
			}
		}
		f, err := results.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		measured := map[string]bool{}
		for _, r := range f.Rows {
			if r.Backend != registrytest.Abacus {
				t.Errorf("a row of backend %s", r.Backend)
			}
			measured[r.Kernel+" "+string(r.Status)] = true
		}
		if !measured["v1_naive ok"] || !measured["v4_optblock ok"] || !measured["xla unsupported"] {
			t.Errorf("rows: %v", measured)
		}
	})
}
