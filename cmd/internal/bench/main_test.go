package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"matladder/backend/cpu/cputest"
	"matladder/backend/registry/builtin"
	"matladder/backend/registry/registrytest"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/files/filestest"
	"matladder/internal/goldentest"
	"matladder/internal/thoroughtest"
	"matladder/kernels/doublingtest"
	"matladder/plugins"
	"matladder/results"
)

// userPlugins is where the user's plugins are.
var userPlugins string

// benchVariable is set in the environment of processes that are bench.
const benchVariable = "MATLADDER_TEST_BENCH"

// TestMain is bench where a test has started it as that. Else it keeps figures of the machine
// in a folder of the test, so that nothing is measured or left in the user's cache, and hides
// the user's plugins.
func TestMain(m *testing.M) {
	builtin.Hook()
	if os.Getenv(benchVariable) != "" {
		cli.Main("bench", Run)
	}
	registrytest.Hook()
	doublingtest.Hook()
	dir, err := os.MkdirTemp("", "bench-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if userPlugins, err = plugins.Folder(); err != nil {
		userPlugins = dir
	}
	os.Setenv(plugins.FolderVariable, filepath.Join(dir, "plugins"))
	code := cputest.Main(m, 0, 1, 2)
	os.RemoveAll(dir)
	os.Exit(code)
}

// once is what is said where nobody has measured the machine yet, or only while others had it.
var once = regexp.MustCompile(`(?m)^measuring this machine once, .*\n`)

// systemSays marks a command whose message has words of the operating system.
const systemSays = " # system"

// TestMistakes has one line for each: what was typed, and what is said.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"unknown.yaml": "sizes: 128\nsize: 256\n",
		"zero.yaml":    "sizes:\n  - 128\n  - 0\n",
		"torn.yaml":    "sizes: [128\n",
		"taken.csv":    "mine\n",
		"bad.tuned":    "machine: m\nrows:\n  - {kernel: v4_optblock}\n",
		"notes.tuned":  "notes\n",
		"other.tuned":  "machine: tpu_v5e\nrows: []\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var got strings.Builder
	for _, line := range []string{
		"--kernel 9",
		"--kernel v9_magic",
		"--with my.so",
		"--with nowhere.so:gemm --dtype float32",
		"--with nowhere.so:v3_fast",
		"--with xla=my.so:gemm",
		"--with =my.so:gemm",
		"--with my.so:gemm --with other.so:gemm",
		"--with nowhere.so:gemm:int9",
		"--with nowhere.so:gemm --cache cold",
		"--with nowhere.so:gemm --topology v5e",
		"--kernel 1,1",
		"--dtype float64",
		"--dtype int32",
		"--sizes 0",
		"--sizes -128",
		"--sizes 128x256",
		"--sizes 99999999999999999999",
		"--sizes 4000000000x4000000000x4000000000",
		"--sizes ,",
		"--blocks 0x1x1",
		"--blocks 128",
		"--blocks 128x128x128x128",
		"--precision fast",
		"--speed 9",
		"--seed x",
		"--threads -2",
		"--threads 1.5",
		"--time-budget -1s",
		"--time-budget 5",
		"--list=perhaps",
		"--fault melt",
		"--cache tepid",
		"--pin --backend xla-cpu",
		"--topology v5e --cache cold",
		"--inputs zero",
		"--inputs uniform,bits:24",
		"--inputs zeros,zeros",
		"--inputs sparse",
		"--topology v5e --inputs zeros",
		"--topology v5e --config inputs",
		"--accumulators --inputs zeros",
		"--duty 0",
		"--duty 25,25",
		"--duty half",
		"--duty 50 --cache cold",
		"--duty 50 --window 0s",
		"--window 5s",
		"--cool -1s",
		"--topology v5e --duty 50",
		"--topology v5e --cool 5s",
		"--table-columns p50",
		"--export table.xml",
		"--export table.md --list",
		"--out rows.csv --export ./rows.csv",
		"--backend abacus",
		"--predict",
		"--backend aot",
		"--topology v9",
		"--topology v5e --backend cpu",
		"--backend xla-cpu --predict",
		"--topology v5e --fault zeros",
		"--param isa",
		"--param isa=sse9",
		"--param vmem_limit=64MiB",
		"--backend tpu --param vmem_limit=0",
		"--backend tpu --param vmem_limit=9999999999GiB",
		"--backend tpu --param operands=cache",
		"--backend xla-cpu --param operands=any",
		"--backend gpu --param method=guess",
		"--backend gpu --param device=first",
		"quick",
		"--config nightly",
		"--config unknown.yaml",
		"--config zero.yaml",
		"--config torn.yaml",
		"--config=",
		"--tuned bad.tuned",
		"--tuned notes.tuned",
		"--tuned .",
		"--tuned other.tuned" + systemSays,
		"--tuned missing.tuned" + systemSays,
		"--resume",
		"--sizes 8 --out taken.csv",
		"--sizes 8 --out taken.csv --resume",
		"--sizes 8 --out .",
		"--sizes 8 --out taken.csv/rows.csv" + systemSays,
		"--config missing.yaml" + systemSays,
	} {
		var stdout, stderr bytes.Buffer
		line, system := strings.CutSuffix(line, systemSays)
		code := Run(context.Background(), strings.Fields(line), &stdout, &stderr)
		said := once.ReplaceAllString(stderr.String(), "")
		if !system {
			fmt.Fprintf(&got, "bench %s\n    %d %s", line, code, said)
		}
		if code != cli.Usage && code != cli.Failed || stdout.Len() > 0 || strings.Count(said, "\n") != 1 {
			t.Errorf("bench %s: exit %d, stdout %q, stderr %q; want one line", line, code, stdout.String(), stderr.String())
		}
	}
	goldentest.Assert(t, filepath.Join(sourceDir, "testdata/mistakes.golden"), []byte(got.String()))
	if text, _ := os.ReadFile("taken.csv"); string(text) != "mine\n" {
		t.Errorf("a file that was there is now %q", text)
	}
}

// TestUnreadable: a file that the command names to be read, and that is not there or
// not what it should be, is a mistake in the command.
func TestUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("notes", []byte("notes\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"--config none.yaml", "--tuned missing", "--tuned notes", "--resume --out notes"} {
		var stdout, stderr bytes.Buffer
		code := Run(context.Background(), strings.Fields("--sizes 8 --kernel 4 "+line), &stdout, &stderr)
		flag := strings.Fields(strings.TrimPrefix(line, "--resume "))[0]
		said := once.ReplaceAllString(stderr.String(), "")
		if code != cli.Usage || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "bench: "+flag+": ") {
			t.Errorf("bench %s: exit %d, stderr %q", line, code, said)
		}
	}
}

// sourceDir is the package's folder, for tests that work in another.
var sourceDir = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

// TestUnwritable checks that a folder without the right to write is found before
// anything is measured.
func TestUnwritable(t *testing.T) {
	dir := filestest.ReadOnly(t)
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), []string{"--sizes", "8", "--out", filepath.Join(dir, "rows.csv")}, &stdout, &stderr)
	if said := once.ReplaceAllString(stderr.String(), ""); code != cli.Failed || strings.Count(said, "\n") != 1 || !strings.Contains(said, "cannot write results") {
		t.Errorf("exit %d: %q", code, stderr.String())
	}
}

// TestFaults shows each injected fault reported wrong, on every dtype.
func TestFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, fault := range []string{"zeros", "sign", "tile", "gain", "nan"} {
		var stdout, stderr bytes.Buffer
		out, rungs := fault+".csv", []string{"1", "5"}
		if !thoroughtest.All() {
			rungs = rungs[i%2:][:1]
		}
		code := Run(context.Background(), strings.Fields("--kernel "+strings.Join(rungs, ",")+" --sizes 40x70x30 --threads 1 --time-budget 1ns --fault "+fault+" --out "+out), &stdout, &stderr)
		if code != cli.Failed {
			t.Errorf("%s: exit %d: %s", fault, code, stderr.String())
		}
		f, err := results.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Rows {
			if r.Status != results.Wrong || r.Reason == "" {
				t.Errorf("%s: %s %s is %s: %s", fault, r.Kernel, r.DtypeA, r.Status, r.Reason)
			}
		}
		if len(f.Rows) < 3*len(rungs) {
			t.Errorf("%s: %d rows", fault, len(f.Rows))
		}
	}
}

// cancelWriter cancels a context at the first line that holds text.
type cancelWriter struct {
	bytes.Buffer
	text   string
	cancel func()
}

func (w *cancelWriter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.text)) {
		w.cancel()
	}
	return w.Buffer.Write(p)
}

func TestInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	stderr := &cancelWriter{text: "[1/", cancel: cancel}
	var stdout bytes.Buffer
	args := strings.Fields("--kernel 1,3 --sizes 32,48,64 --dtype float32 --time-budget 1ns --out rows.csv")
	if code := Run(ctx, args, &stdout, stderr); code != cli.Interrupted {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if !strings.Contains(stdout.String(), "v3_block") || !strings.Contains(stdout.String(), "rows.csv: 2 rows") {
		t.Errorf("no table of what exists:\n%s", stdout.String())
	}
	again, found := strings.CutPrefix(stderr.String()[strings.LastIndex(stderr.String(), "interrupted; "):], "interrupted; to go on: go run ./cmd/bench ")
	if !found {
		t.Errorf("stderr: %s", stderr)
	}
	stdout.Reset()
	if code := Run(context.Background(), strings.Fields(again), &stdout, stderr); code != cli.OK || !strings.Contains(stdout.String(), "rows.csv: 6 rows") {
		t.Errorf("resumed: exit %d:\n%s", code, stdout.String())
	}
}

// TestConclude_Lost: a table that cannot be written is told, but not in place of what
// ended the sweep.
func TestConclude_Lost(t *testing.T) {
	outcome := harness.Outcome{Rows: make([]results.Record, 1)}
	stdout, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	w.Close()
	for _, ended := range []error{nil, context.Canceled} {
		want := cmp.Or(ended, os.ErrClosed)
		if err := (&flags{}).conclude(w, io.Discard, "rows.csv", outcome, ended); !errors.Is(err, want) {
			t.Errorf("a sweep that ended with %v: %v, want %v", ended, err, want)
		}
	}
}

func TestDryRun(t *testing.T) {
	for _, name := range []string{"quick", "ladder", "full"} {
		var stdout, stderr bytes.Buffer
		code := Run(context.Background(), []string{"--config", name, "--dry-run"}, &stdout, &stderr)
		if said := once.ReplaceAllString(stderr.String(), ""); code != cli.OK || said != "" {
			t.Errorf("%s: exit %d: %s", name, code, said)
		}
		for _, want := range []string{" points in ", "memory: ", "time: "} {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, stdout.String())
			}
		}
	}
}
