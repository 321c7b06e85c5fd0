package peers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend/foreign/process"
	"matladder/backend/registry/builtin"
	"matladder/internal/cli"
	"matladder/results"
)

func TestMain(m *testing.M) {
	builtin.Hook()
	os.Exit(m.Run())
}

// call runs the command line and returns all that it prints.
func call(args ...string) (code int, output string) {
	var stdout, stderr bytes.Buffer
	code = Run(context.Background(), args, &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// standIn puts libraries of a known behavior into a folder. Without a compiler the
// test is skipped.
func standIn(t *testing.T) (folder string) {
	t.Helper()
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(process.ErrNoCompiler)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder = t.TempDir()
	for library, source := range map[string]string{"libopenblas.so.0": "standin.c", "libdnnl.so.3": "standin_onednn.c"} {
		source = filepath.Join("..", "..", "..", "backend", "foreign", "process", "testdata", source)
		if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", filepath.Join(folder, library), source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return folder
}

// TestMeasure measures a kernel against the stand-in, with one thread and with
// two, in one file.
func TestMeasure(t *testing.T) {
	folder := standIn(t)
	out := filepath.Join(t.TempDir(), "rows.csv")
	args := []string{"--peers", "openblas", "--path", folder, "--kernel", "4", "--sizes", "48,20x30x40", "--dtype", "float32,int8",
		"--threads", "1,2", "--out", out, "--time-budget", "1s"}
	code, output := call(args...)
	if code != cli.OK && code != cli.Failed {
		t.Fatalf("status %d: %s", code, output)
	}
	for _, want := range []string{"openblas 0.0.0 standin", "÷ best peer", "1 thread", "2 threads", "openblas 0.0.0 standin uint8"} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in:\n%s", want, output)
		}
	}
	file, err := results.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	seen, installed := map[string]bool{}, true
	for _, r := range file.Rows {
		if r.Peer() && r.PluginVersion != "0.0.0 standin" {
			installed = installed && (r.Status == results.OK || r.Status == results.Unsupported)
			continue // one that is installed here
		}
		if r.Status != results.OK {
			t.Errorf("%s: %s %s", r.Kernel, r.Status, r.Reason)
		}
		seen[fmt.Sprint(r.Kernel, r.DtypeA, r.Threads, r.M)] = true
	}
	if installed && code != cli.OK {
		t.Errorf("status %d: %s", code, output)
	}
	for _, kernel := range []string{"v4_optblock", "openblas"} {
		for _, dtype := range []string{"float32", "int8"} {
			for _, threads := range []int{1, 2} {
				for _, m := range []int{48, 20} {
					if id := fmt.Sprint(kernel, dtype, threads, m); !seen[id] {
						t.Errorf("no row of %s", id)
					}
				}
			}
		}
	}
	if code, output := call(args...); code != cli.Usage || !strings.Contains(output, "exists") {
		t.Errorf("a file that exists: status %d: %s", code, output)
	}
	code, output = call("--report", out)
	if code != cli.OK || !strings.HasPrefix(output, "## Sweep peers\n\nMeasured on ") || !strings.Contains(output, "| ÷ best peer |") {
		t.Errorf("status %d: %s", code, output)
	}
}

// TestMeasure_Scaled measures products with scales: one library has them, the other
// says that it does not. A oneDNN that is installed here takes part; of some processors it
// has wrong products, and then that is all that is wrong.
func TestMeasure_Scaled(t *testing.T) {
	folder := standIn(t)
	out, sweep := filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(sweep, []byte("name: small\nsizes: 8\ndist: integers\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, output := call("--config", sweep, "--peers", "openblas,onednn", "--path", folder, "--kernel", "5", "--sizes", "20x30x40",
		"--dtype", "int8:per_channel,int8:float32:per_channel+token", "--threads", "1", "--out", out, "--time-budget", "1s")
	file, err := results.ReadFile(out)
	if err != nil {
		t.Fatalf("status %d: %s", code, output)
	}
	seen, want := map[string]bool{}, cli.OK
	for _, r := range file.Rows {
		seen[strings.Join(strings.Fields(fmt.Sprint(r.PeerName(), " ", r.DtypeOut, " ", r.Quant, " ", r.Status)), " ")] = true
		if installed := strings.HasPrefix(r.PeerName(), "onednn") && !strings.HasPrefix(r.PeerName(), "onednn 3.0.0"); installed && r.Status == results.Wrong {
			want = cli.Failed
		}
	}
	if code != want {
		t.Fatalf("status %d, want %d: %s", code, want, output)
	}
	for _, dtype := range []string{"bfloat16 per_channel", "float32 per_channel+token"} {
		for _, want := range []string{"v5_quant %s ok", "onednn 3.0.0 %s ok", "onednn 3.0.0 uint8 %s ok", "openblas 0.0.0 standin %s unsupported"} {
			if want = fmt.Sprintf(want, dtype); !seen[want] {
				t.Errorf("no row %q in %v", want, seen)
			}
		}
	}
	code, output = call("--report", out, "--report", out)
	for _, want := range []string{"## Sweep small\n", "## Sweep small, run 2\n", "**int8×int8→bfloat16 · per_channel · ", "**int8×int8→float32 · per_channel+token · ", "| onednn 3.0.0 |", "| onednn 3.0.0 uint8 |"} {
		if code != cli.OK || !strings.Contains(output, want) {
			t.Errorf("status %d, no %q in the report:\n%s", code, want, output)
		}
	}
}

// TestMeasure_Crash checks that a library that crashes costs its rows alone.
func TestMeasure_Crash(t *testing.T) {
	folder := standIn(t)
	t.Setenv("STANDIN", "crash")
	out := filepath.Join(t.TempDir(), "rows.csv")
	code, output := call("--peers", "openblas", "--path", folder, "--kernel", "4", "--sizes", "48", "--dtype", "float32",
		"--threads", "1", "--out", out, "--time-budget", "1s")
	if code != cli.Failed || !strings.Contains(output, "bad kernel") {
		t.Errorf("status %d: %s", code, output)
	}
	file, err := results.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range file.Rows {
		if r.PluginVersion == "0.0.0 standin" || r.Kernel == "v4_optblock" {
			count[r.Kernel+" "+string(r.Status)]++
		}
	}
	if count["openblas crashed"] != 1 || count["v4_optblock ok"] == 0 {
		t.Errorf("%v", count)
	}
}

func TestList(t *testing.T) {
	folder := standIn(t)
	code, output := call("--list", "--path", folder)
	if code != cli.OK || !strings.Contains(output, "openblas  0.0.0 standin") || !strings.Contains(output, "float32×float32→float32") {
		t.Errorf("status %d: %s", code, output)
	}
	for _, name := range known() {
		if !strings.Contains(output, "\n"+name+" ") && !strings.HasPrefix(output, name+" ") {
			t.Errorf("no line of %s: %s", name, output)
		}
	}
}

// TestMistakes checks that each is told in one line, with its status.
func TestMistakes(t *testing.T) {
	sample, err := os.ReadFile(filepath.Join("..", "..", "..", "plots", "testdata", "sample_cpu.csv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	header, _, _ := bytes.Cut(sample, []byte("\n"))
	for name, text := range map[string][]byte{"rows.csv": sample, "header.csv": append(header, '\n')} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"--peers atlas", cli.Usage, `unknown peer "atlas" (known: openblas, onednn, blis, mkl, libxsmm, torch, xla)`},
		{"--peers mkl,mkl", cli.Usage, "mkl is listed twice"},
		{"--threads two", cli.Usage, `"two" is no number of threads`},
		{"--threads 1,1", cli.Usage, "1 is listed twice"},
		{"--sizes 0", cli.Usage, `--sizes: size "0"`},
		{"--config nothing", cli.Usage, `unknown sweep "nothing"`},
		{"--report rows.csv --sizes 64", cli.Usage, "--sizes is for measuring, and --report shows what was measured"},
		{"--resume", cli.Usage, "--resume needs --out"},
		{"--time-budget -1s", cli.Usage, "is negative"},
		{"left over", cli.Usage, `unexpected argument "left"`},
		{"--report none.csv", cli.Usage, "--report: open none.csv: "},
		{"--report .", cli.Usage, "--report: . is a folder, not a results file"},
		{"--report=", cli.Usage, "--report is empty"},
		{"--report header.csv", cli.Failed, "header.csv has no rows; measure some with"},
		{"--path none --list", cli.Usage, "--path: stat none: "},
		{"--path header.csv --list", cli.Usage, "--path: header.csv is not a folder"},
		{"--peers= --list", cli.Usage, "--peers is empty"},
		{"--seed x", cli.Usage, `--seed: "x" is not a whole number (peers --help lists the flags)`},
	} {
		code, output := call(strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(output, test.want) || strings.Count(output, "\n") != 1 {
			t.Errorf("peers %s: status %d: %s", test.args, code, output)
		}
	}
	if err := process.Available(); err != nil {
		return
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	if err := os.WriteFile(os.Getenv("XDG_CACHE_HOME"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const none = "no C compiler"
	if code, output := call("--list"); code != cli.Failed || strings.Count(output, "\n") != 1 ||
		!strings.Contains(output, "no folder for the peers' program: ") && !strings.Contains(output, none) {
		t.Errorf("without a cache folder: status %d: %s", code, output)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CC", "")
	if code, output := call("--list"); code != cli.Failed || strings.Count(output, "\n") != 1 || !strings.Contains(output, none) {
		t.Errorf("without a compiler: status %d: %s", code, output)
	}
}

func TestHelp(t *testing.T) {
	code, output := call("--help")
	if code != cli.OK || !strings.Contains(output, "go run ./cmd/peers [flags]") {
		t.Errorf("status %d: %s", code, output)
	}
}
