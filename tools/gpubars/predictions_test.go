package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/results"
)

// standIn is bench, tune and plot that measure and draw nothing: they copy the file of the
// same name in ROWS to the one that they are to write, and fail where there is none.
const standIn = `#!/bin/sh
echo "$0 $*" >>"$ROWS/said"
while [ $# -gt 0 ]; do
	case $1 in --out) out=$2 ;; esac
	shift
done
case $out in */first.csv | "") ;; *) cp "$ROWS/${out##*/}" "$out" ;; esac
`

// pointRows are rows, of one device each or several, at the points that gpubars asks for.
func pointRows(t *testing.T, mode results.Mode, seconds func(i int) float64) []results.Record {
	gpu := aot.GPUs()[0]
	for _, g := range aot.GPUs() {
		if g.Name == "h100" {
			gpu = g
		}
	}
	flags := (&options{sizes: "2048,4096,8192,16384"}).points()
	value := func(flag string) []string { return strings.Split(flags[slices.Index(flags, flag)+1], ",") }
	var rows []results.Record
	for _, size := range value("--sizes") {
		for _, dtype := range value("--dtype") {
			for _, blocks := range value("--blocks") {
				r := results.Record{
					Schema: "1", RunID: "made-up", Backend: "gpu", Device: "NVIDIA H100 80GB HBM3", Chip: gpu.Chip, Kernel: fifth, Mode: mode, Status: results.OK,
					DtypeA: dtype, DtypeB: dtype, DtypeAcc: "float32", DtypeOut: dtype, Precision: "default", BlockSource: "given", Launches: 1, Batch: 1, Devices: 1,
					PeakFLOPs: 1e15, PeakSource: "made up", Seed: results.Some[int64](1), Dist: "uniform",
				}
				if _, err := fmt.Sscan(size, &r.M); err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Sscanf(blocks, "%dx%dx%d", &r.BM, &r.BK, &r.BN); err != nil {
					t.Fatal(err)
				}
				r.K, r.N = r.M, r.M
				r.FLOPs = 2 * int64(r.M) * int64(r.K) * int64(r.N)
				r.Seconds = seconds(len(rows)) * (1e-6 + float64(r.FLOPs)/5e14)
				if r.Method = results.AOT; mode == results.Measured {
					r.Method, r.Operands, r.ErrOverBound = results.Direct, "hbm", results.Some(0.5)
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// TestPredictions: from the files that bench leaves to bars.md, on rows that are made up:
// measured times are what was predicted over known factors.
func TestPredictions(t *testing.T) {
	factors := func(fs ...float64) func(int) float64 { return func(i int) float64 { return fs[i%len(fs)] } }
	near := []float64{1 / 1.05, 1 / 0.9, 1 / 0.98} // errors of 5, 10 and 2 %
	for _, test := range []struct {
		name    string
		factors []float64
		change  func(measured, predicted *[]results.Record)
		code    int
		want    string // what was found, and the verdict
		says    string // on stderr
	}{
		{"near", near, nil, cli.OK, "median 5.0 %, largest 10.0 %, of 30 points | met", ""},
		{"far", []float64{1 / 1.2, 1 / 0.7}, nil, cli.OK, "median 25.0 %, largest 30.0 %, of 30 points | missed", ""},
		{"the limit", []float64{1 / 1.0999}, nil, cli.OK, "median 10.0 %, largest 10.0 %, of 30 points | met", ""},
		{"missing", near, func(m, p *[]results.Record) { *m = (*m)[:27] }, cli.OK,
			"median 5.0 %, largest 10.0 %, of 27 points; 3 not measured: float32 8192 in 128×64×128 … | too few points", ""},
		{"not predicted", near, func(m, p *[]results.Record) { *p = (*p)[1:] }, cli.OK,
			"median 5.0 %, largest 10.0 %, of 29 points; 1 not predicted: bfloat16 1024 in 128×64×128 | too few points", ""},
		{"failed", near, func(m, p *[]results.Record) {
			for i, status := range map[int]results.Status{0: results.Crashed, 3: results.TooBig, 4: results.TooBig} {
				r := &(*m)[i]
				r.Status, r.Reason, r.Seconds, r.Launches, r.ErrOverBound = status, "made up", 0, 0, results.Optional[float64]{}
			}
			r := &(*p)[6]
			r.Status, r.Reason, r.Seconds, r.Launches = results.Unsupported, "made up", 0, 0
		}, cli.OK, "of 26 points; 1 crashed: bfloat16 1024 in 128×64×128; 1 predicted as unsupported: bfloat16 3072 in 128×64×128; 2 too_big: float32 1024 in 128×64×128 … | too few points", ""},
		{"another device", near, func(m, p *[]results.Record) {
			for i := range 4 {
				(*m)[i].Device, (*m)[i].Chip, (*m)[i].RunID = "NVIDIA A100-SXM4-80GB", "nvidia_a100_sxm_80gb", "another"
			}
		}, cli.Failed, "", "rows of several GPUs: NVIDIA A100-SXM4-80GB, NVIDIA H100 80GB HBM3"},
		{"an unknown device", near, func(m, p *[]results.Record) {
			for i := range *m {
				(*m)[i].Device, (*m)[i].Chip = "NVIDIA L7", "nvidia_l7"
			}
		}, cli.Failed, "30 not predicted: bfloat16 1024 in 128×64×128 … | nothing to compare", "the model does not know this GPU: NVIDIA L7"},
		{"predicted as another", near, func(m, p *[]results.Record) {
			for i := range *p {
				(*p)[i].Device, (*p)[i].Chip = "NVIDIA L4", "nvidia_l4"
			}
		}, cli.OK, "30 not measured: bfloat16 1024 in 128×64×128 …; 30 of another device, NVIDIA H100 80GB HBM3: bfloat16 1024 in 128×64×128 … | nothing to compare", ""},
		{"predicted rows for measured ones", near, func(m, p *[]results.Record) { *m = *p }, cli.OK, "30 not measured: bfloat16 1024 in 128×64×128 … | nothing to compare", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			measured := pointRows(t, results.Measured, factors(test.factors...))
			predicted := pointRows(t, results.Predicted, factors(1))
			if len(predicted) != enough {
				t.Fatalf("%d points", len(predicted))
			}
			if test.change != nil {
				test.change(&measured, &predicted)
			}
			rows, bin, folder := t.TempDir(), t.TempDir(), t.TempDir()
			t.Setenv("ROWS", rows)
			for name, list := range map[string][]results.Record{"model.csv": measured, "predict.csv": predicted} {
				var text bytes.Buffer
				if err := results.Write(&text, list); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(rows, name), text.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range programs {
				if err := os.WriteFile(filepath.Join(bin, p), []byte(standIn), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"--folder", folder, "--bin", bin, "--only", "model,predict"}, &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("exit %d, want %d and %q\n%s%s", code, test.code, test.says, &stdout, &stderr)
			}
			bars, err := os.ReadFile(filepath.Join(folder, "bars.md"))
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			_, line, _ := strings.Cut(string(bars), "| predictions |")
			if line, _, _ = strings.Cut(line, "\n"); !strings.Contains(line, test.want) {
				t.Errorf("%s\nwant %s", line, test.want)
			}
			said, err := os.ReadFile(filepath.Join(rows, "said"))
			if asked := strings.Contains(string(said), "bench --topology h100 "); err != nil || asked == (code == cli.Failed) {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}
