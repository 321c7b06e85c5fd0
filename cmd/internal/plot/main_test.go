package plot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/stats"

	"github.com/google/go-cmp/cmp"

	"matladder/internal/cli"
	"matladder/results"
)

// workplace changes to a new folder that has results as cmd/bench leaves them:
// a run on a CPU in out/, one on a TPU in tpu/.
func workplace(t *testing.T) {
	t.Helper()
	real := hostname
	hostname = func() (string, error) { return "bench-01", nil }
	t.Cleanup(func() { hostname = real })
	samples := map[string]string{}
	for _, name := range []string{"sample_cpu.csv", "sample_tpu.csv"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "plots", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		samples[name] = string(text)
	}
	t.Chdir(t.TempDir())
	write(t, "out/20261120-101500.csv", samples["sample_cpu.csv"])
	write(t, "tpu/20261121-080000.csv", samples["sample_tpu.csv"])
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plot runs the command.
func plot(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, &out, &errs)
	return code, filepath.ToSlash(out.String()), filepath.ToSlash(errs.String())
}

func TestRun_AllPictures(t *testing.T) {
	workplace(t)
	write(t, "out/notes.csv", "not,a,results,file\n")
	code, stdout, stderr := plot()
	if code != cli.OK || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "out/notes.csv:1: not a results file") {
		t.Errorf("exit %d, stderr:\n%s", code, stderr)
	}
	var want []string
	for _, kernel := range "012345" {
		for _, dtype := range []string{"bfloat16", "float32", "int8"} {
			want = append(want, "out/performance_kernel_"+string(kernel)+"_"+dtype+".png")
		}
	}
	got := strings.Fields(stdout)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, path := range got {
		if !strings.HasPrefix(read(t, path), "\x89PNG\r\n\x1a\n") {
			t.Errorf("%s is no PNG", path)
		}
	}
	entries, err := os.ReadDir("out")
	if err != nil || len(entries) != len(want)+2 {
		t.Errorf("%d files in out, %v", len(entries), err)
	}
}

// TestRun_Newest: without --input a kernel and dtype come from the newest run
// that has them, measured before predicted.
func TestRun_Newest(t *testing.T) {
	workplace(t)
	write(t, "out/20261121-080000.csv", read(t, "tpu/20261121-080000.csv"))
	for args, want := range map[string]string{
		"--dtype=bfloat16 --analyze=v4": "TPU v5e",
		"--dtype=bfloat16 --analyze=1":  "Example CPU",
		"--dtype=int8 --analyze=v5":     "Example CPU",
	} {
		code, stdout, stderr := plot(append(strings.Fields(args), "--format=svg", "--output=pictures")...)
		if code != cli.OK {
			t.Fatalf("%s: exit %d: %s", args, code, stderr)
		}
		if svg := read(t, strings.Fields(stdout)[0]); !strings.Contains(svg, want) || strings.Contains(svg, "predicted") {
			t.Errorf("%s is not the measured run on %s", args, want)
		}
	}
}

// TestRun_Peaks: a roofline has the peak of its dtype and that of one thread, whether the file
// was named or not.
func TestRun_Peaks(t *testing.T) {
	workplace(t)
	for _, input := range []string{"", "--input=out/20261120-101500.csv "} {
		code, stdout, stderr := plot(strings.Fields(input + "--kind=roofline --dtype=float32 --format=svg --output=pictures")...)
		if code != cli.OK {
			t.Fatalf("%q: exit %d: %s", input, code, stderr)
		}
		svg := read(t, strings.Fields(stdout)[0])
		for _, peak := range []string{"float32 peak 421 GFLOP/s", "of one thread 210 GFLOP/s"} {
			if !strings.Contains(svg, peak) {
				t.Errorf("%q: no %q", input, peak)
			}
		}
	}
}

// TestRun_Blocks: a size picture is of the fastest shapes, and with --blocks all of every one.
func TestRun_Blocks(t *testing.T) {
	workplace(t)
	for flag, want := range map[string]bool{"": true, " --blocks=all": false} {
		code, stdout, stderr := plot(strings.Fields("--input=tpu/20261121-080000.csv --analyze=4 --dtype=bfloat16 --format=svg" + flag)...)
		if code != cli.OK {
			t.Fatalf("%q: exit %d: %s", flag, code, stderr)
		}
		if got := strings.Contains(read(t, strings.Fields(stdout)[0]), "at each size: 512³"); got != want {
			t.Errorf("%q: the fastest shape is named: %v", flag, got)
		}
	}
}

// TestRun_Tables: the tables are those of package results, of the rows asked
// for: every block shape of kernels that were named, else the best of each.
func TestRun_Tables(t *testing.T) {
	workplace(t)
	for _, c := range []struct {
		args          string
		file, dtype   string
		kernel        string
		best          bool
		format, holds string
	}{
		{"--table=text --dtype=float32", "out/20261120-101500.csv", "float32", "", true, "text", "v1_naive"},
		{"--table=md --dtype=int8", "out/20261120-101500.csv", "int8", "", true, "md", "TOP/s"},
		{"--table=text --dtype=int8 --analyze=5", "out/20261120-101500.csv", "int8", "v5_quant", false, "text", "too_big"},
		{"--table=text --input=tpu/*.csv --analyze=4", "tpu/20261121-080000.csv", "bfloat16", "v4_optblock", false, "text", "predicted"},
		{"--table=benchstat --dtype=int8 --analyze=1", "out/20261120-101500.csv", "int8", "v1_naive", false, "benchstat", "BenchmarkMatmul/"},
		{"--table=csv --dtype=bfloat16", "out/20261120-101500.csv", "bfloat16", "", false, "csv", "512"},
	} {
		f, err := results.ReadFile(filepath.FromSlash(c.file))
		if err != nil {
			t.Fatal(err)
		}
		asked := slices.DeleteFunc(f.Rows, func(r results.Record) bool { return r.DtypeA != c.dtype })
		list := slices.DeleteFunc(stats.Summarize(asked), func(s stats.Summary) bool {
			return c.kernel != "" && s.Kernel != c.kernel
		})
		if c.best {
			list = stats.Best(list)
		}
		var want bytes.Buffer
		if err := stats.WriteTable(&want, c.format, list); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := plot(strings.Fields(c.args)...)
		if code != cli.OK || stderr != "" || !strings.Contains(stdout, c.holds) {
			t.Errorf("%s: exit %d: %s, no %q", c.args, code, stderr, c.holds)
		}
		if diff := cmp.Diff(filepath.ToSlash(want.String()), stdout); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.args, diff)
		}
	}
	if entries, err := os.ReadDir("out"); err != nil || len(entries) != 1 {
		t.Errorf("--table left %v in out, %v", entries, err)
	}
}

func TestRun_JSON(t *testing.T) {
	workplace(t)
	_, stdout, _ := plot("--table=json", "--analyze=xla,5", "--dtype=float32,int8")
	var list []struct {
		Kernel string
		Dtype  string `json:"dtype_a"`
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, s := range list {
		seen[s.Kernel+" "+s.Dtype]++
	}
	if len(seen) != 4 || seen["xla int8"] != 5 || seen["v5_quant float32"] == 0 {
		t.Errorf("records: %v", seen)
	}
}

// TestRun_Pipe: rows that come through a pipe are drawn into the working folder, and
// not read twice.
func TestRun_Pipe(t *testing.T) {
	workplace(t)
	if out, err := exec.Command("mkfifo", "tpu/pipe").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	rows := read(t, "tpu/20261121-080000.csv")
	go os.WriteFile("tpu/pipe", []byte(rows), 0)
	if code, stdout, stderr := plot("--input=tpu/pipe", "--kind=ladder"); code != cli.OK || stdout != "performance_ladder_bfloat16.png\nperformance_ladder_bfloat16_shapes.png\n" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := plot("--input=tpu/pipe", "--html=x.html"); code != cli.Usage || !strings.Contains(stderr, "tpu/pipe can be read once") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestRun_Help(t *testing.T) {
	code, stdout, stderr := plot("--help")
	if code != cli.OK || stderr != "" || !strings.HasPrefix(stdout, "Plot draws what bench measured") || !strings.HasSuffix(stdout, "\n") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestRun_Interrupted: Ctrl-C ends each way to run before anything is written.
func TestRun_Interrupted(t *testing.T) {
	workplace(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{nil, {"--table=csv"}, {"--html=report.html"}} {
		var out, errs bytes.Buffer
		if code := Run(ctx, args, &out, &errs); code != cli.Interrupted || out.String() != "" || errs.String() != "plot: interrupted\n" {
			t.Errorf("plot %v: exit %d\n%s%s", args, code, out.String(), errs.String())
		}
	}
}

// TestRun_ClosedOutput: a table that cannot be written is a failure.
func TestRun_ClosedOutput(t *testing.T) {
	workplace(t)
	var errs bytes.Buffer
	if code := Run(context.Background(), []string{"--table=csv"}, closed{}, &errs); code != cli.Failed || !strings.Contains(errs.String(), "closed") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.Join(io.ErrClosedPipe) }
