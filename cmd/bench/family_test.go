package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/madeup"
	"matladder/results"
)

// TestFamily: a problem family that is registered is one of bench's, with the names of
// its sizes, its kernels and its figure.
func TestFamily(t *testing.T) {
	madeup.Run(t, func(t *testing.T) {
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
		shapes := map[string]bool{}
		for _, r := range f.Rows {
			if shapes[r.Shape] = true; r.Family != madeup.Family || r.Status != results.OK || r.Figure != results.PerBytes || r.M != 0 || r.BytesMin == 0 {
				t.Errorf("%+v", r)
			}
		}
		if !shapes["items=70,parts=80"] || !shapes["items=9,parts=5"] || len(shapes) != 2 {
			t.Errorf("shapes %v", shapes)
		}
	})
}
