package bench

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend/registry/registrytest"
	"matladder/internal/cli"
	"matladder/kernels/doublingtest"
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
			says(t, args, want)
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

// TestFamily: a problem family that is registered is one of bench's, with the names of
// its sizes, its kernels and its figure.
func TestFamily(t *testing.T) {
	doublingtest.Run(t, func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "rows.csv")
		for args, want := range map[string]string{
			"--help":                                    ", doubling",
			"--family doubling":                         "wants --sizes items×parts",
			"--family doubling --sizes 7x8x9":           `size "7x8x9": want one number, or items×parts`,
			"--family doubling --sizes items=7 --list":  "parts is missing",
			"--family doubling --sizes 70x80 --list":    "v1_twice     70 items of 80 float32 blocks 8\n",
			"--family doubling --sizes 64 --kernel 2":   "known: v1_twice",
			"--family doubling --sizes 64 --blocks 8x8": "want items, as in 512",
			"--family doubling --sizes 70x80,items=9:parts=5 --kernel 1 --time-budget 1ms --out " + out: "GB/s",
		} {
			says(t, args, want)
		}
		f, err := results.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		shapes := map[string]bool{}
		for _, r := range f.Rows {
			if shapes[r.Shape] = true; r.Family != doublingtest.Family || r.Status != results.OK || r.Figure != results.PerBytes || r.M != 0 || r.BytesMin == 0 {
				t.Errorf("%+v", r)
			}
		}
		if !shapes["items=70,parts=80"] || !shapes["items=9,parts=5"] || len(shapes) != 2 {
			t.Errorf("shapes %v", shapes)
		}
	})
}

// says reports it if bench does not say what it is to say on some arguments.
func says(t *testing.T, args, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), strings.Fields(args), &stdout, &stderr)
	if text := stdout.String() + stderr.String(); !strings.Contains(text, want) || code == cli.Failed {
		t.Errorf("bench %s: exit %d, want %q in\n%s", args, code, want, text)
	}
}
