package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/stats"

	"matladder/backend/foreign/process"
	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/plugins"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

const programs = "../../../backend/foreign/program/testdata/"

// putProgram writes a program of two arrays, which are 40×56 and 56×24.
func putProgram(t *testing.T, name, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	text := "module @m { func.func public @main(%a: tensor<40x56xf32>, %b: tensor<56x24xf32>) -> tensor<40x24xf32> {\n" + body + "\nreturn %0 : tensor<40x24xf32>\n} }\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWith_Program: StableHLO programs in the rounds of kernels, on XLA: text, bytecode and
// what jax.export serializes; each that is wrong in its own way has its own row.
func TestWith_Program(t *testing.T) {
	usePlugin(t, "cpu")
	sweep := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(sweep, []byte("kernels: [4]\nsizes: [40x56x24, 64]\ndtypes: [float32]\nblocks: 40x56x24\nrounds: {min: 2, max: 2}\ntimeout: 3s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown := putProgram(t, "unknown.mlir", "%0 = stablehlo.custom_call @nobody_knows(%a, %b) : (tensor<40x56xf32>, tensor<56x24xf32>) -> tensor<40x24xf32>")
	args := "--config " + sweep + " --threads 1"
	for _, file := range []string{"matmul.mlir", "bytecode=matmul.mlirbc", "serialized=matmul.jax:float32", "doubled.mlir", "endless.mlir"} {
		name, path, named := strings.Cut(file, "=")
		if args += " --with "; named {
			args += name + "=" + programs + path
		} else {
			args += programs + name
		}
	}
	code, rows, said := measured(t, args+" --with "+unknown)
	want := map[string]string{
		"v4_optblock 40": "ok", "matmul 40": "ok loop", "bytecode 40": "ok wall", "serialized 40": "ok wall", "doubled 40": "wrong", "endless 40": "timeout", "unknown 40": "failed nobody_knows",
		"v4_optblock 64": "ok", "matmul 64": "unsupported shapes are part", "bytecode 64": "unsupported shapes are part", "serialized 64": "unsupported shapes are part",
		"doubled 64": "unsupported shapes are part", "endless 64": "unsupported shapes are part", "unknown 64": "unsupported shapes are part",
	}
	seen := map[string]bool{}
	for _, r := range rows {
		key := r.Kernel + " " + strings.Split(r.ShapeName(), ",")[0][2:]
		seen[key] = true
		status, words, _ := strings.Cut(want[key], " ")
		if string(r.Status) != status || !strings.Contains(r.Reason+string(r.Method), words) {
			t.Errorf("%s: %s by %s (%s), want %s", key, r.Status, r.Method, r.Reason, want[key])
		}
		if r.Kernel != "v4_optblock" && (filepath.Ext(r.Plugin) == "" || len(strings.Fields(r.PluginVersion)) != 3) {
			t.Errorf("%s is of %s %s", key, r.Plugin, r.PluginVersion)
		}
	}
	if code != cli.Failed || len(seen) != len(want) {
		t.Errorf("exit %d: %v\n%s", code, seen, said)
	}
}

// TestWith_ProgramMistakes: what is no program, or fits nothing, is told in one line.
func TestWith_ProgramMistakes(t *testing.T) {
	usePlugin(t, "cpu")
	dir := t.TempDir()
	jax, err := os.ReadFile(programs + "matmul.jax")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty.mlir": "", "cut.jax": string(jax[:600]), "cut.mlir": "module @m { func.func @main(", "dynamic.mlir": "func.func @main(%a: tensor<?x8xf32>) {}", "huge.mlir": "",
		"spread.mlir": "module @m attributes {mhlo.num_replicas = 2 : i32} { func.func @main() { return } }"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "huge.mlir"), 200<<20); err != nil {
		t.Fatal(err)
	}
	matmul := programs + "matmul.mlir"
	for args, want := range map[string]string{
		dir + "/empty.mlir": "the file is empty", dir + "/cut.jax": "it is cut short", dir + "/cut.mlir": "it is cut short", dir + "/dynamic.mlir": "dynamic shapes (tensor<?x8xf32>)",
		dir + "/spread.mlir": "several devices (mhlo.num_replicas = 2)", "=" + matmul: "the name before = is empty",
		dir + "/huge.mlir": "is longer than 67108864 bytes", dir + "/none.mlir": "no such file", dir: "want FILE:SYMBOL",
		matmul: "the problem has (tensor<64x64xf32>, tensor<64x64xf32>)", matmul + ":int8": "computes int8→int32", matmul + ":int9": "unknown dtype",
		"xla=" + matmul: "is a kernel's name", dir + "/kernel.ttir": "as in inspect " + dir + "/kernel.ttir --topology h100", matmul + " --topology h100": "aot-gpu takes no StableHLO programs (known: cpu, ",
		matmul + " --with " + programs + "matmul.jax": "two functions are called matmul",
	} {
		var stdout, stderr bytes.Buffer
		code := Run(context.Background(), append(strings.Fields("--kernel 1 --sizes 64 --dtype float32 --list --with"), strings.Fields(args)...), &stdout, &stderr)
		if code != cli.Usage || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", args, code, stderr.String(), want)
		}
	}
}

// TestWith_ProgramAhead: a kernel of this project, exported and given as a guest, is predicted
// as the kernel is; of a guest that is not understood the row says why.
func TestWith_ProgramAhead(t *testing.T) {
	useCompiler(t)
	kernel, err := kernels.FindIn(problem.MatmulFamily, "4")
	if err != nil {
		t.Fatal(err)
	}
	built, err := kernel.Build(problem.New(512, 512, 512, tile.BFloat16), "", tile.Blocks{M: 256, K: 512, N: 256})
	if err != nil {
		t.Fatal(err)
	}
	launch, err := mosaic.Lower(built, mosaic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "exported.mlir")
	if err := os.WriteFile(file, []byte(launch.Module()), 0o666); err != nil {
		t.Fatal(err)
	}
	code, rows, said := measured(t, "--topology v5e --kernel 4 --blocks 256x512x256 --sizes 512,1024 --dtype bfloat16 --with "+file)
	seconds := map[string]float64{}
	for _, r := range rows {
		if r.M == 512 && r.Status == results.OK && r.Mode == results.Predicted {
			seconds[r.Kernel] = r.Seconds
		} else if r.Kernel == "exported" && r.Status != results.Unsupported {
			t.Errorf("%+v", r)
		}
	}
	if off := seconds["exported"]/seconds["v4_optblock"] - 1; code != cli.OK || !(math.Abs(off) < 0.01) {
		t.Errorf("exit %d: %v\n%s", code, seconds, said)
	}
	if s := stats.Summarize(rows); !s[len(s)-1].Peer() {
		t.Errorf("%s is no peer", s[len(s)-1].Kernel)
	}
	for _, r := range rows {
		if want := r.Kernel == "exported" && r.Status == results.OK; strings.HasPrefix(r.Verified, "no: a kernel of Mosaic") != want {
			t.Errorf("%s of %d is verified by %q", r.Kernel, r.M, r.Verified)
		}
	}
	code, rows, said = measured(t, "--topology v5e --kernel 4 --blocks 40x56x24 --sizes 40x56x24 --dtype float32 --with "+programs+"endless.mlir")
	for _, r := range rows {
		if r.Kernel == "endless" && (r.Status != results.Unsupported || !strings.Contains(r.Reason, "does not count")) {
			t.Errorf("exit %d: %+v\n%s", code, r, said)
		}
	}
}

// TestWith_ProgramVerified: what is predicted is verified on this machine by XLA: a wrong
// program has no prediction.
func TestWith_ProgramVerified(t *testing.T) {
	useCompiler(t)
	usePlugin(t, "cpu")
	code, rows, said := measured(t, "--topology v5e --kernel 4 --blocks 40x56x24 --sizes 40x56x24 --dtype float32 --with "+programs+"matmul.mlir --with "+programs+"doubled.mlir")
	got := map[string]string{}
	for _, r := range rows {
		got[r.Kernel] = string(r.Status) + " " + r.Verified
	}
	if want := map[string]string{"v4_optblock": "ok ", "matmul": "ok xla-cpu", "doubled": "wrong xla-cpu"}; code != cli.Failed || !maps.Equal(got, want) {
		t.Errorf("exit %d: %v\n%s", code, got, said)
	}
	if !strings.Contains(said, "its output was verified on this machine (xla-cpu): matmul float32 40×56×24 on tpu_v5e") {
		t.Errorf("no note in\n%s", said)
	}
}

// kernels of Pallas and functions of JAX, good and bad.
const jaxFile = `
import os
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl

def plain(a, b):
    return a @ b

def pallas(a, b, factor=1):
    def kernel(a, b, o):
        o[...] = (jnp.dot(a[...], b[...], preferred_element_type=jnp.float32) * factor).astype(o.dtype)
    (m, k), n, side = a.shape, b.shape[1], 256
    assert m % side == 0 and n % side == 0
    return pl.pallas_call(kernel, grid=(m // side, n // side), out_shape=jax.ShapeDtypeStruct((m, n), a.dtype),
        in_specs=[pl.BlockSpec((side, k), lambda i, j: (i, 0)), pl.BlockSpec((k, side), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((side, side), lambda i, j: (i, j)))(a, b)

def wrong(a, b):
    return pallas(a, b, 1.5)

def rows(a, b):
    return (a @ b)[:8]

def raises(a, b):
    return a @ a @ b @ jnp.zeros(3)

def exits(a, b):
    os._exit(3)
`

// TestWith_Triton: a kernel of Triton is compiled and predicted for GPUs with none at hand, from a file
// that goes on to use one, and is verified by Triton's interpreter where that has torch's arrays.
func TestWith_Triton(t *testing.T) {
	t.Setenv(plugins.FolderVariable, userPlugins)
	t.Setenv(aot.CacheVariable, t.TempDir())
	required := strings.Split(os.Getenv("MATLADDER_REQUIRE"), ",")
	if b, err := aot.OpenGPUBackend(aot.BackendOptions{Topology: "h100"}); err == nil {
		b.Close()
	} else if slices.Contains(required, "cuda") {
		t.Fatal(err)
	} else {
		t.Skip(err)
	}
	python := cmp.Or(os.Getenv(process.PythonVariable), "python3")
	if err := exec.Command(python, "-c", "import triton").Run(); err != nil {
		if slices.Contains(required, "triton") {
			t.Fatal(err)
		}
		t.Skipf("not installed: %s -m pip install triton", python)
	}
	text, err := os.ReadFile("../../../examples/any-kernel/triton_matmul.py")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file.py")
	args := "--topology h100 --kernel 5 --blocks 64x64x64 --sizes 256 --dtype bfloat16"
	for name, change := range map[string][2]string{
		"good": {"", ""}, "second": {`"constants"`, `"config": 1, "constants"`}, "third": {`"constants"`, `"config": 2, "constants"`},
		"less": {`"a_ptr": "a", `, ""}, "unlike": {`"M": "m"`, `"M": "rows"`}, "nowhere": {"cdiv(m, BM) *", "0 *"},
		"warps": {`"grid"`, `"num_warps": 3, "grid"`}, "stages": {`"grid"`, `"num_stages": 0, "grid"`}, "misspelled": {`"constants"`, `"constant"`},
		"clusters": {"num_warps=8)", "num_warps=8, num_ctas=2)"}, "listed": {`"constants": {"ACTIVATION": ""}`, `"constants": ["ACTIVATION"]`},
	} {
		path := strings.Replace(file, "file", name, 1)
		mine := strings.Replace(string(text), change[0], change[1], 1) + "\nimport no_such_module\nx = triton.testing.do_bench(no_such_module.f)\n"
		if err := os.WriteFile(path, []byte(mine), 0o666); err != nil {
			t.Fatal(err)
		}
		args += " --with " + name + "=" + path + ":matmul_kernel"
	}
	code, rows, said := measured(t, args)
	want := map[string]string{
		"v5_quant": "ok ", "good": "ok ", "second": "ok ", "third": "failed config 2: matmul_kernel has 2", "less": "failed gives no a_ptr",
		"unlike": "failed name 'rows' is not defined (known: a, b, o, ", "nowhere": "failed the grid is [0]",
		"warps": "failed num_warps is 3, and a power of two up to 64", "stages": "failed num_stages is 0", "misspelled": "failed says constant, and known are grid,",
		"clusters": "unsupported num_ctas is 2", "listed": "failed constants is ['ACTIVATION'], and a dictionary is wanted",
	}
	seconds := map[string]float64{}
	for _, r := range rows {
		status, reason, _ := strings.Cut(want[r.Kernel], " ")
		if string(r.Status) != status || !strings.Contains(r.Reason, reason) {
			t.Errorf("%s: %s (%s), want %s", r.Kernel, r.Status, r.Reason, want[r.Kernel])
		}
		if guest := r.Kernel == "good" || r.Kernel == "second"; guest && !strings.Contains(r.Verified, "Triton's interpreter") && !strings.HasSuffix(r.Verified, "pip install torch") {
			t.Errorf("%s: verified by %q", r.Kernel, r.Verified)
		}
		seconds[r.Kernel] = r.Seconds
		delete(want, r.Kernel)
	}
	if code != cli.Failed || len(want) > 0 || seconds["good"] == seconds["second"] || seconds["good"] <= 0 {
		t.Errorf("exit %d, without %v, %v\n%s", code, want, seconds, said)
	}
}

// TestWith_JAXAhead: functions of JAX are exported, predicted, and verified by themselves on
// this machine: kernels of Pallas in its interpret mode, at a size that takes seconds.
func TestWith_JAXAhead(t *testing.T) {
	useCompiler(t)
	python := cmp.Or(os.Getenv(process.PythonVariable), "python3")
	if err := exec.Command(python, "-c", "import jax").Run(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "jax") {
			t.Fatal(err)
		}
		t.Skipf("not installed: jax of %s", python)
	}
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file.py"), filepath.Join(dir, "other.py")
	for path, text := range map[string]string{file: jaxFile, other: "import numpy\n\ndef numbers(a, b):\n    return a @ b\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := "--topology v5e --kernel 4 --blocks 256x512x256 --sizes 256,2048 --dtype bfloat16 --with " + other + ":numbers"
	for _, name := range []string{"plain", "pallas", "wrong", "rows", "raises", "exits"} {
		args += " --with " + file + ":" + name
	}
	code, rows, said := measured(t, args)
	want := map[string]string{
		"v4_optblock 256": "ok |", "plain 256": "ok |JAX on this machine's cores", "pallas 256": "ok |Pallas' interpret mode", "wrong 256": "wrong by Pallas' interpret mode|Pallas",
		"rows 256": "unsupported returns (tensor<8x256xbf16>)|", "raises 256": "failed file.py:|", "exits 256": "crashed exit status 3|", "numbers 256": "unsupported arrays of numpy|",
		"v4_optblock 2048": "ok |", "plain 2048": "ok |JAX on this machine's cores", "pallas 2048": "ok |interpret mode at 1024 ", "wrong 2048": "wrong by Pallas' interpret mode|at 1024 ",
		"rows 2048": "unsupported returns (tensor<8x2048xbf16>)|", "raises 2048": "failed file.py:|", "exits 2048": "crashed exit status 3|", "numbers 2048": "unsupported arrays of numpy|",
	}
	for _, r := range rows {
		key := fmt.Sprint(r.Kernel, " ", r.M)
		status, rest, _ := strings.Cut(want[key], " ")
		reason, verified, _ := strings.Cut(rest, "|")
		if string(r.Status) != status || !strings.Contains(r.Reason, reason) || !strings.Contains(r.Verified, verified) || (verified == "") != (r.Verified == "") {
			t.Errorf("%s: %s (%s), verified by %q, want %s", key, r.Status, r.Reason, r.Verified, want[key])
		}
		delete(want, key)
	}
	if code != cli.Failed || len(want) > 0 {
		t.Errorf("exit %d, without %v\n%s", code, want, said)
	}
}
