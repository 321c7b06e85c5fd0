package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/backend/xla/pjrt"
	"matladder/internal/cli"
	"matladder/internal/thoroughtest"
	"matladder/plugins"
	"matladder/results"
	"matladder/tools/fakegpu"
)

// TestRun does all of it on a simulated GPU, whose kernels multiply: every step that
// is asked for ends, every file is read, every bar is judged by what was measured. Then, without
// that GPU, XLA's compiler for GPUs predicts the points, and finds every one of them.
func TestRun(t *testing.T) {
	if err := pjrt.Available(); err != nil {
		t.Skip(err)
	}
	if !thoroughtest.All() {
		t.Skip(thoroughtest.LeftOut)
	}
	_, missing := plugins.Find("cuda")
	installed, set := os.LookupEnv(plugins.FolderVariable)
	fakegpu.Install(t)
	folder := filepath.Join(t.TempDir(), "gpu")
	var stdout, stderr bytes.Buffer
	flags := []string{"--folder", folder, "--sizes", "64", "--candidates", "1"}
	bin := []string{"--bin", filepath.Join(folder, "bin")}
	code := run(t.Context(), append(flags, "--time-budget", "4s", "--only", "tune,tune8"), &stdout, &stderr)
	if code == cli.OK {
		code = run(t.Context(), append(append(flags, bin...), "--time-budget", "6s", "--only", "verify,bfloat16,narrow,float32,chain,l2,model,pictures"), &stdout, &stderr)
	}
	said := stdout.String() + stderr.String()
	if code != cli.OK {
		t.Fatalf("exit %d\n%s", code, said)
	}
	table, _ := os.ReadFile(filepath.Join(folder, "tuned.yaml")) // none where time was too short for any
	if tuned, not := strings.Count(string(table), "kernel: "), strings.Count(said, "not done: "); tuned+not != 4 {
		t.Errorf("%d of 4 problems tuned, %d not for want of time\n%s", tuned, not, table)
	}
	for _, name := range []string{"bfloat16/*.png", "narrow/*.png", "float32/*.png"} {
		if found, _ := filepath.Glob(filepath.Join(folder, name)); len(found) == 0 {
			t.Errorf("no %s", name)
		}
	}
	const float8Product = "float8_e4m3fn×float8_e4m3fn→bfloat16 per_tensor"
	for name, want := range map[string][]string{ // products with an output that is right, of the fifth rung
		"verify":   {"bfloat16", "float32", float8Product, "int8×int8→bfloat16 per_channel+token", "int8×int8→int32"},
		"bfloat16": {"bfloat16"}, "narrow": {float8Product, "int8×int8→int32"}, "float32": {"float32", "float32 precision highest"},
		"chain": {"bfloat16"}, "l2": {"bfloat16"}, "model": {"bfloat16", "float32", "int8×int8→int32"},
	} {
		f, err := results.ReadFile(filepath.Join(folder, name+".csv"))
		if err != nil {
			t.Error(err)
			continue
		}
		right := map[string]bool{}
		for _, r := range f.Rows {
			switch {
			case r.Status == results.OK && r.ErrOverBound.Known && r.Kernel == fifth:
				right[r.Product()] = true
			case r.Status != results.OK && (name != "verify" || r.Status != results.Unsupported):
				t.Errorf("%s: %s %s %s: %s: %s", name, r.Kernel, r.Product(), r.Size(), r.Status, r.Reason)
			}
		}
		if got := slices.Sorted(maps.Keys(right)); !slices.Equal(got, want) {
			t.Errorf("%s: right are %q, want %q", name, got, want)
		}
	}
	bars, err := os.ReadFile(filepath.Join(folder, "bars.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{ // whether a slope gave a figure depends on what else the machine does
		"NVIDIA H100", "| outputs against float64 | every one right |", "| " + fifth + " bfloat16", "| " + fifth + " int8", "| " + fifth + " float8_e4m3fn",
		"| " + fifth + " float32 highest", "| a loop's slope", "| predictions | median error at most 10 % of 30 points | ", " not predicted: bfloat16 ", " | nothing to compare |",
	} {
		if !strings.Contains(string(bars), want) {
			t.Errorf("no %q in\n%s", want, bars)
		}
	}
	t.Logf("%s\n%s", bars, said)

	// Outputs that are wrong are told, by the step and by the bar.
	t.Setenv(fakegpu.Variable, "wrong")
	stdout.Reset()
	stderr.Reset()
	code = run(t.Context(), append(append(flags, bin...), "--time-budget", "1s", "--only", "bfloat16"), &stdout, &stderr)
	if code != cli.Failed || !strings.Contains(stderr.String(), "steps that failed: bfloat16") || !strings.Contains(stdout.String(), fifth+" bfloat16 64: wrong") {
		t.Errorf("exit %d\n%s%s", code, stdout.String(), stderr.String())
	}

	if missing != nil && slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cuda") {
		t.Fatal(missing)
	} else if missing != nil {
		t.Skip(missing)
	}
	if t.Setenv(plugins.FolderVariable, installed); !set {
		os.Unsetenv(plugins.FolderVariable)
	}
	stdout.Reset()
	stderr.Reset()
	code = run(t.Context(), append(append(flags, bin...), "--only", "predict"), &stdout, &stderr)
	_, line, _ := strings.Cut(stdout.String(), "| predictions |")
	line, _, _ = strings.Cut(line, "\n")
	compared, without := 0, 0
	if _, found, ok := strings.Cut(line, ", of "); ok {
		fmt.Sscan(found, &compared)
	}
	if _, found, ok := strings.Cut(line, "points; "); ok { // their slopes gave no figure, on a machine that does other things too
		fmt.Sscan(found, &without)
	}
	if code != cli.OK || compared == 0 || compared+without != 12 || strings.Contains(line, "not predicted") || strings.Contains(line, notMeasured) {
		t.Errorf("exit %d\n%s\n%s", code, line, &stderr)
	}
	t.Logf("%s", line)
}

// TestRun_NoGPU: where nothing can be measured it is said, and which mistakes there are.
func TestRun_NoGPU(t *testing.T) {
	bin := t.TempDir()
	for _, p := range programs {
		if err := os.WriteFile(filepath.Join(bin, p), []byte("#!/bin/sh\necho 'bench: this machine shows no GPU' >&2\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--folder", t.TempDir(), "--bin", bin}, cli.Failed, "gpubars: bench measures nothing here: exit status 1"},
		{[]string{"--only", "dance"}, cli.Usage, `unknown step "dance"`},
		{[]string{"--time-budget", "0s"}, cli.Usage, "must be positive"},
		{[]string{"--bin", t.TempDir()}, cli.Usage, "no such file"},
		{[]string{"--dry-run"}, cli.OK, ""},
		{[]string{"--help"}, cli.OK, ""},
	} {
		t.Chdir(t.TempDir())
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), test.args, &stdout, &stderr); code != test.code || !strings.Contains(stderr.String(), test.says) {
			t.Errorf("%v: exit %d\n%s%s", test.args, code, stdout.String(), stderr.String())
		}
		if left, _ := filepath.Glob("*"); len(left) > 0 && test.code != cli.Failed && len(test.args) < 2 {
			t.Errorf("%v left %v", test.args, left)
		}
	}
}

// TestJudge: bars on both sides of what they want.
func TestJudge(t *testing.T) {
	row := func(file, kernel, dtype, method string, size, launches int, seconds float64) results.Record {
		r := results.Record{
			RunID: "r", Kernel: kernel, Mode: results.Measured, Method: results.Method(method), Status: results.OK,
			M: size, K: size, N: size, DtypeA: dtype, DtypeB: dtype, DtypeOut: dtype, BM: 128, BK: 64, BN: 128,
			Launches: launches, Seconds: seconds, ErrOverBound: results.Some(0.5), PeakFLOPs: 1e15, FLOPs: 2 * int64(size) * int64(size) * int64(size),
		}
		if file == "predict" {
			r.Mode, r.ErrOverBound = results.Predicted, results.Optional[float64]{}
		}
		return r
	}
	many := func(file, kernel, dtype, method string, size int, seconds float64) (list []results.Record) {
		for round := range 8 {
			for rep, launches := range []int{1, 8} {
				r := row(file, kernel, dtype, method, size, launches, 1e-5+seconds*float64(launches))
				if method != "loop" {
					r.Seconds = seconds * float64(launches)
				}
				r.Round, r.Rep = round, rep
				list = append(list, r)
			}
		}
		return list
	}
	files := map[string][]results.Record{
		"bfloat16": append(append(many("", fifth, "bfloat16", "loop", 2048, 1e-4), many("", results.Baseline, "bfloat16", "loop", 2048, 0.96e-4)...),
			append(many("", fifth, "bfloat16", "loop", 4096, 1e-3), many("", results.Baseline, "bfloat16", "loop", 4096, 0.9e-3)...)...),
		"chain":   append(many("", fifth, "bfloat16", "chain", 2048, 1.02e-4), many("", fifth, "bfloat16", "chain", 4096, 1.05e-3)...),
		"model":   append(many("", fifth, "bfloat16", "loop", 2048, 1e-4), many("", fifth, "bfloat16", "loop", 4096, 1e-3)...),
		"predict": {row("predict", fifth, "bfloat16", "aot", 2048, 1, 1.05e-4), row("predict", fifth, "bfloat16", "aot", 4096, 1, 1.2e-3), row("predict", fifth, "bfloat16", "aot", 9, 1, 1)},
	}
	got := map[string]bar{}
	for _, b := range judge(files) {
		got[b.what] = b
	}
	for what, want := range map[string]string{
		"outputs against float64": met, fifth + " bfloat16 2048": met, fifth + " bfloat16 4096": missed,
		"a loop's slope, bfloat16 2048": met, "a loop's slope, bfloat16 4096": missed, "predictions": "too few points", fifth + " int8": notMeasured,
	} {
		if got[what].verdict != want {
			t.Errorf("%s: %+v, want %s", what, got[what], want)
		}
	}
	if found := got["predictions"].found; !strings.HasPrefix(found, "median 12.5 %, largest 20.0 %, of 2 points") {
		t.Errorf("%s", found)
	}
	files["bfloat16"][0].Status = results.Crashed
	if b := judge(files)[0]; b.verdict != missed || !strings.Contains(b.found, "crashed") {
		t.Errorf("%+v", b)
	}
}
