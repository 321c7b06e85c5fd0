package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/plugins"
)

// asPython makes the test's own executable play the Python process.
const asPython = "PALLASREF_TEST_AS_PYTHON"

func TestMain(m *testing.M) {
	aot.Child()
	if how := os.Getenv(asPython); how != "" {
		playPython(how)
	}
	os.Exit(m.Run())
}

// playPython answers every question as libtpu or JAX once did, or fails as a
// process may.
func playPython(how string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil || q.Topology != "v5e:2x2" || q.Blocks[0] == 0 {
			how = "crash"
		}
		switch how {
		case "crash":
			fmt.Fprintln(os.Stderr, "Segmentation fault")
			os.Exit(3)
		case "hang":
			time.Sleep(time.Minute)
		case "no JAX":
			fmt.Fprintln(os.Stderr, "ModuleNotFoundError: No module named 'jax'")
			os.Exit(1)
		case "fits":
			fmt.Println(`{"seconds": 0.1}`)
		default:
			json.NewEncoder(os.Stdout).Encode(answer{Error: how, Seconds: 1})
		}
	}
	os.Exit(0)
}

func TestReference(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := Matrix()[0]
	for _, test := range []struct {
		how    string
		want   Outcome
		reason string
	}{
		{"fits", Fits, ""},
		{"RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\nRan out of memory in memory space vmem while allocating on stack for %v1_naive.1 = f32[2048,2048]{1,0:T(8,128)} custom-call(%args_0_.1). Scoped allocation with size 48.82M and limit 16.00M exceeded scoped vmem limit by 32.82M.\nSee https://openxla.org", TooBig, "needs"},
		{"INTERNAL: Mosaic failed to compile TPU kernel with MLIR module name `<no name>` HLO name `v3_block.1`: E2001: CompileTimeMosaicUnsupportedRhsType: Unsupported matmul RHS type on target: vector<128x128xi8>\nSee https://openxla.org\n\nat location: loc(\"dot\")", Unsupported, "Unsupported matmul RHS type on target"},
		{"The Pallas TPU lowering currently does not know this", Failed, "does not know this"},
		{"crash", Failed, "Segmentation fault"},
		{"hang", Timeout, "no answer within"},
	} {
		t.Run(strings.Fields(test.how)[0], func(t *testing.T) {
			t.Setenv(asPython, test.how)
			r := Reference{Python: self, Folder: t.TempDir(), Libtpu: "libtpu.so", Limit: 30 * time.Second}
			if test.how == "hang" {
				r.Limit = 300 * time.Millisecond
			}
			defer r.Close()
			for range 2 { // the second goes to the same process, or to a new one
				got := resultOf(r.Compile(t.Context(), p))
				if got.Outcome != test.want || !strings.Contains(got.Reason, test.reason) || strings.Contains(got.Reason, "\n") {
					t.Errorf("%s %q, want %s %q", got.Outcome, got.Reason, test.want, test.reason)
				}
			}
		})
	}
	t.Run("no JAX", func(t *testing.T) {
		t.Setenv(asPython, "no JAX")
		r := Reference{Python: self, Folder: t.TempDir(), Limit: time.Minute}
		var setup *setupError
		if err := r.Compile(t.Context(), p); !errors.As(err, &setup) || !strings.Contains(err.Error(), "jax") {
			t.Error(err)
		}
		r.Python = "no-such-python"
		if err := r.Compile(t.Context(), p); !errors.As(err, &setup) {
			t.Error(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Setenv(asPython, "hang")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := Reference{Python: self, Folder: t.TempDir(), Limit: time.Minute}
		if err := r.Compile(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestFresh compiles a sample of our side again: what lower/mosaic writes now takes
// the cycles that the table says. libtpu is a large download: without it the test
// is skipped, unless MATLADDER_REQUIRE names it.
func TestFresh(t *testing.T) {
	library, err := find(versions[0])
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	table, err := ReadTable("table.csv")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewComparer("", library, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := 0
	for _, p := range Matrix() {
		// Small kernels: each takes a fifth of a second.
		small := p.Size == 1024 && p.Blocks.M <= 128 || p.Size == 512 && p.Kernel.Number() <= 2
		sampled := p.Topology == "v5e" || p.Topology == "v6e" && p.Kernel.Number() == 5
		if p.Libtpu != versions[0] || !small || !sampled {
			continue
		}
		n++
		got, err := c.compileOurs(t.Context(), p)
		const rounding = 0.01 // of the table
		want := table[p.Key()].Ours
		if err != nil || got.Outcome != want.Outcome || math.Abs(got.Cycles-want.Cycles) > rounding {
			t.Errorf("%s: %+v, the table has %+v (%v): remove what has changed from table.csv and run .ci/full", p.Key(), got, want, err)
		}
	}
	if n < 18 {
		t.Errorf("%d points", n)
	}
}

func TestCommand(t *testing.T) {
	t.Setenv(plugins.FolderVariable, t.TempDir())
	table := filepath.Join(t.TempDir(), "table.csv")
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"--help", cli.OK, "--time-budget"},
		{"--tabel x", cli.Usage, "unknown flag: --tabel"},
		{"now", cli.Usage, `unexpected "now"`},
		{"--libtpu 0.0.1", cli.Usage, "0.0.51"},
		{"--table " + table, cli.Failed, "go run ./cmd/plugin install tpu --version 0.0.51"},
		{"--table table.csv --time-budget 1ns", cli.OK, "median ratio"},
	} {
		var out, errs bytes.Buffer
		args := strings.Fields(test.args)
		if code := run(t.Context(), args, &out, &errs); code != test.code || !strings.Contains(out.String()+errs.String(), test.want) {
			t.Errorf("%s: exit %d, %s%s; want %d, %q", test.args, code, &out, &errs, test.code, test.want)
		}
	}
}

// TestScripts: Python takes every script, if there is a Python.
func TestScripts(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"answers.py", ownKernels, library, tokamaxLibrary} {
		text, err := scripts.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(python, "-c", "import ast, sys; ast.parse(sys.argv[1])", string(text)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
