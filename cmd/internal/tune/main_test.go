package tune

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"matladder/backend/cpu/cputest"
	"matladder/backend/registry/builtin"
	"matladder/backend/registry/registrytest"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/files/filestest"
	"matladder/kernels/doublingtest"
)

func TestMain(m *testing.M) {
	builtin.Hook()
	registrytest.Hook()
	doublingtest.Hook()
	if from, err := strconv.Atoi(os.Getenv(childVariable)); err == nil {
		keepRows(os.Args[1], from)
	}
	os.Exit(cputest.Main(m, 0, 1))
}

func tuneWith(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestTune tunes small problems, goes on where it ended, and lists and compares
// what it found.
func TestTune(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"--dtype", "float32", "--threads", "1", "--candidates", "2", "--sizes"}
	code, stdout, stderr := tuneWith(append(args, "8,16", "--kernel", "4", "--param", "b=packed")...)
	if want := regexp.MustCompile(`(?s)^v4_optblock 8x8x8 float32×float32→float32: blocks .*\nconfigs/tuned/cpu_\w+_1\.yaml: 2 rows\n$`); code != cli.OK || !want.MatchString(stdout) {
		t.Fatalf("%d\n%s\n%s", code, stdout, stderr)
	}
	files, _ := filepath.Glob("configs/tuned/*.yaml")
	if len(files) != 1 {
		t.Fatal(files)
	}
	before, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr = tuneWith(append(args, "8", "--kernel", "3,4,5")...); code != cli.OK || !strings.Contains(stderr, "1 problem to tune, 2 in the table") {
		t.Fatalf("%d\n%s\n%s", code, stdout, stderr)
	}
	after, err := tuned.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	first, err := tuned.Parse("before", before)
	if err != nil || len(after.Rows) != 3 || after.Rows[0].Evidence.Seconds != first.Rows[0].Evidence.Seconds {
		t.Errorf("%v %+v", err, after.Rows)
	}

	code, stdout, stderr = tuneWith("--list", "--threads", "1")
	if code != cli.OK || strings.Count(stdout, "    blocks ") != 3 || !strings.Contains(stdout, "tuned_shape_class, a row whose sizes ") || strings.Count(stdout, " raced, ended by evidence; ") != 3 {
		t.Errorf("%d\n%s\n%s", code, stdout, stderr)
	}
	if code, stdout, _ = tuneWith("--help"); code != cli.OK || !strings.Contains(stdout, "--candidates") {
		t.Errorf("%d %s", code, stdout)
	}
}

// once is what is said where nobody has measured the machine yet.
var once = regexp.MustCompile(`(?m)^measuring this machine once, .*\n`)

func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("bad.yaml", []byte("machine: x\nrows:\n  - {kernel: v4_optblock}\n"), 0o644)
	os.WriteFile("other.yaml", []byte("machine: tpu_v5e\nrows: []\n"), 0o644)
	os.WriteFile("file", nil, 0o644)
	os.WriteFile("bad.json", []byte(`{"a": 1}`), 0o644)
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"--colour", cli.Usage, "unknown flag: --colour"},
		{"v4", cli.Usage, `unexpected argument "v4"`},
		{"--kernel 9", cli.Usage, "--kernel: "},
		{"--sizes 0", cli.Usage, "--sizes: "},
		{"--config nope", cli.Usage, `unknown sweep "nope"`},
		{"--backend quantum", cli.Usage, `no backend "quantum" (known: cpu, tpu, gpu, aot, aot-gpu)`},
		{"--backend aot", cli.Usage, "--backend aot needs --topology"},
		{"--backend aot --topology v9", cli.Usage, "--topology: "},
		{"--topology v5e --backend cpu", cli.Usage, "--topology v5e names a chip that need not be there"},
		{"--backend xla-cpu", cli.Usage, "--backend: xla-cpu cannot do this (can: cpu, tpu, gpu, aot, aot-gpu)"},
		{"--param vmem=1", cli.Usage, "--param vmem: backend cpu has no such parameter"},
		{"--time-budget -1s", cli.Usage, "is negative"},
		{"--candidates -1", cli.Usage, "is negative"},
		{"--threads x", cli.Usage, `--threads: "x" is not a whole number (tune --help lists the flags)`},
		{"--time-budget 5", cli.Usage, `--time-budget: "5" is not a time with its unit`},
		{"--dtype x", cli.Usage, `--dtype: dtype "x": unknown dtype ""`},
		{"--out=", cli.Usage, "--out is empty"},
		{"--out .", cli.Usage, "--out: . is a folder, not a file"},
		{"--out file", cli.Usage, "--out: file: empty, and no table of tuned blocks"},
		{"--list --import x", cli.Usage, "one of them at a time"},
		{"--kernel 1,2,3", cli.Usage, "nothing to tune"},
		{"--out bad.yaml", cli.Usage, "--out: bad.yaml:3: shape"},
		{"--out other.yaml", cli.Usage, "other.yaml is the table of tpu_v5e, this is cpu_"},
		{"--list --out none.yaml", cli.Failed, "no table none.yaml; make it with"},
		{"--import none.py", cli.Usage, "--import: open none.py"},
		{"--import bad.json", cli.Usage, "tpu-inference is no format for "},
		{"--export nope", cli.Usage, "--export nope, --from tpu-inference: want one of vllm-moe, tpu-inference, tokamax, triton"},
		{"--import file --from triton", cli.Usage, "--from triton: its lists have no default to compare with"},
		{"--export triton --list", cli.Usage, "one of them at a time"},
		{"--export vllm-moe", cli.Usage, "--moe E,TOPK,HIDDEN,WIDTH is wanted"},
		{"--import file --from vllm-moe", cli.Usage, "--moe E,TOPK,HIDDEN,WIDTH is wanted"},
		{"--moe 8,2,4096", cli.Usage, "--moe 8,2,4096, --tokens "},
		{"--moe 8,2,4096,14336 --tokens 0", cli.Usage, "--moe 8,2,4096,14336, --tokens [0]: want "},
		{"--moe 8,2,4096,14336 --sizes 4", cli.Usage, "--moe goes with neither --sizes nor --family"},
		{"--export tokamax", cli.Usage, "tokamax is no format for "},
		{"--sizes 48 --kernel 4 --dtype int8 --out file/below.yaml", cli.Usage, "--out: open file/below.yaml: "},
	} {
		code, stdout, stderr := tuneWith(strings.Fields(test.args)...)
		stderr = once.ReplaceAllString(stderr, "")
		if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) || strings.Contains(stderr, "panic") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d %q %q", test.args, code, stdout, stderr)
		}
	}
}

// TestUnwritable: what cannot be written is found before any block shape is measured, and is
// said with the name that the command line has.
func TestUnwritable(t *testing.T) {
	dir := filestest.ReadOnly(t)
	path := filepath.Join(dir, "t.yaml")
	args := []string{"--sizes", "48", "--kernel", "4", "--dtype", "float32", "--threads", "1"}
	code, stdout, stderr := tuneWith(append(args, "--out", path)...)
	stderr = once.ReplaceAllString(stderr, "")
	if code != cli.Failed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "tune: cannot write "+path+": ") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// TestKeep: of two that tune one problem at once, the row of the first stays; of others
// neither loses a row.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.yaml")
	row := func(m int) tuned.Row { return rowOf(jobOf(m), tuned.ByEvidence, "now") }
	var one, other flags
	for m := 1; m < 6; m++ {
		if _, taken, err := one.keep(t.Context(), path, "here", row(m), tuned.Row{}); err != nil || !taken {
			t.Fatal(err)
		}
		table, taken, err := other.keep(t.Context(), path, "here", row(10*m), tuned.Row{})
		if err != nil || !taken || len(table.Rows) != 2*m {
			t.Fatalf("%d rows, want %d: %v", len(table.Rows), 2*m, err)
		}
	}
	again := row(1)
	again.Blocks.M = 4
	if table, taken, err := other.keep(t.Context(), path, "here", again, tuned.Row{}); err != nil || taken || table.Rows[0].Blocks.M != 8 {
		t.Errorf("took %v over a row that its search did not know: %v", taken, err)
	}
	if table, taken, err := other.keep(t.Context(), path, "here", again, row(1)); err != nil || !taken || table.Rows[0].Blocks.M != 4 {
		t.Errorf("took %v over a row that its search knew: %v", taken, err)
	}
	if _, _, err := one.keep(t.Context(), path, "there", row(7), tuned.Row{}); cli.Status(err) != cli.Usage {
		t.Errorf("into the table of another machine: %v", err)
	}
	if table, err := tuned.ReadFile(path); err != nil || len(table.Rows) != 10 {
		t.Errorf("%v, %v", table, err)
	}
}
