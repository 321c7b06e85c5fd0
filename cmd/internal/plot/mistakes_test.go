package plot

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"matladder/internal/cli"
)

// TestRun_Errors: one clear line each.
func TestRun_Errors(t *testing.T) {
	workplace(t)
	tpu := read(t, "tpu/20261121-080000.csv")
	write(t, "empty/.keep", "")
	write(t, "file", "")
	header, rows, _ := strings.Cut(read(t, "out/20261120-101500.csv"), "\n")
	write(t, "bad/header.csv", strings.Replace(header, ",seconds,", ",sekunden,", 1)+"\n"+rows)
	write(t, "bad/only_header.csv", header+"\n")
	write(t, "bad/empty.csv", "")
	write(t, "bad/picture.csv", "\x89PNG\r\n\x1a\n\x00\x00")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--analyze=9", cli.Usage, `--analyze: unknown kernel "9" (known: v1_naive`},
		{"--analyze=", cli.Usage, "--analyze is empty"},
		{"--dtype=bf16", cli.Usage, `--dtype: unknown dtype "bf16" (known: float32`},
		{"--kind=pie", cli.Usage, `--as: unknown "pie", known are size, kernels, ladder, roofline`},
		{"--blocks=some", cli.Usage, `--blocks: unknown "some", known are all`},
		{"--format=gif", cli.Usage, `--format: unknown "gif", known are png, svg`},
		{"--table=xml", cli.Usage, `--as: unknown "xml", known are size, kernels`},
		{"--colour", cli.Usage, "unknown flag: --colour"},
		{"nope.csv", cli.Usage, "nope.csv: no such results file\n"},
		{"--kind=ladder --analyze=1", cli.Usage, "--analyze picks kernels"},
		{"--table=md --kind=ladder", cli.Usage, "--as: md is a table, and is shown alone"},
		{"--as=md --format=svg", cli.Usage, "--format is for pictures, and --as md is a table"},
		{"--dtype=int4", cli.Failed, "no rows in int4 (there are xla, v1_naive, v2_parallel, v3_block, v4_optblock, v5_quant in bfloat16, float32, int8); make them with: go run ./cmd/bench --dtype int4"},
		{"--dtype=int4 --analyze=5", cli.Failed, "no rows of v5_quant in int4"},
		{"--table=text --dtype=int4 --analyze=5", cli.Failed, "no rows of v5_quant in int4"},
		{"--input=tpu/*.csv --analyze=1", cli.Failed, "no rows of v1_naive (there are xla, v3_block, v4_optblock, v5_quant in bfloat16); make them with: go run ./cmd/bench --kernel 1\n"},
		{"--input=nope*.csv", cli.Usage, "nope*.csv: no such results file\n"},
		{"--input=[", cli.Usage, "[: neither a file nor a glob"},
		{"--input=", cli.Usage, "--input is empty"},
		{"--input=bad/header.csv", cli.Usage, "bad/header.csv:1: not a results file: missing column seconds"},
		{"--input=bad/empty.csv", cli.Usage, "bad/empty.csv:1: the file is empty"},
		{"--input=bad/picture.csv", cli.Usage, "bad/picture.csv:1: not a results file: "},
		{"--input=bad/only_header.csv", cli.Failed, "the input files have no rows; make some with: go run ./cmd/bench"},
		{"--input=empty", cli.Usage, "empty is a folder"},
		{"--input=tpu/*.csv --html=tpu/20261121-080000.csv", cli.Usage, "tpu/20261121-080000.csv is the file that --html would write"},
		{"--input=tpu/*.csv --html=empty", cli.Failed, "cannot write empty: it is a folder"},
		{"--input=tpu/*.csv --html=file/x.html", cli.Failed, "file"},
		{"--kind=compare", cli.Usage, "--as compare holds one results file against another: it takes two, the old one first, and there is 1"},
		{"--kind=compare --input=tpu/*.csv --input=tpu/*.csv", cli.Usage, "and there is 1"},
		{"--kind=compare --dtype=int8 --input=out/20261120-101500.csv --input=tpu/20261121-080000.csv", cli.Failed, "int8: only out/20261120-101500.csv has rows of it: nothing to compare"},
		{"--output=file", cli.Failed, "file"},
		{"--output=file/below", cli.Failed, "file"},
	} {
		code, stdout, stderr := plot(strings.Fields(c.args)...)
		if code != c.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "plot: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, want %d with %q\nstdout %q\nstderr %q", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
	if read(t, "tpu/20261121-080000.csv") != tpu {
		t.Error("an input was changed")
	}
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := plot("--analyze=5", "--dtype=bfloat16"); code != cli.Failed || stderr != "plot: no results in out/*.csv; make them with: go run ./cmd/bench\n" {
		t.Errorf("without results: exit %d: %s", code, stderr)
	}
}

// TestRun_DamagedRows: a damaged row is reported with its place and the rest
// is drawn.
func TestRun_DamagedRows(t *testing.T) {
	workplace(t)
	lines := strings.SplitAfter(read(t, "out/20261120-101500.csv"), "\n")
	column := func(name string) int { return slices.Index(strings.Split(strings.TrimSpace(lines[0]), ","), name) }
	put := func(line int, name, value string) {
		cells := strings.Split(lines[line], ",")
		// The device's name has a comma, so cells behind it are shifted by one.
		cells[column(name)+1] = value
		lines[line] = strings.Join(cells, ",")
	}
	put(3, "seconds", "NaN")
	put(4, "m", "99999999999999999999")
	put(5, "k", "-512")
	put(6, "status", "fine")
	text := strings.Join(lines[:len(lines)-1], "")
	write(t, "out/20261120-101500.csv", text[:len(text)-9])
	code, stdout, stderr := plot("--kind=ladder", "--dtype=float32")
	if code != cli.OK || stdout != "out/performance_ladder_float32.png\n" {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for _, want := range []string{`csv:4: column "seconds"`, `csv:5: column "m"`, `csv:6: column "k"`, `csv:7: column "status"`, "the last row is torn"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
	if n := strings.Count(stderr, "\n"); n != 5 {
		t.Errorf("%d lines:\n%s", n, stderr)
	}
}

// TestRun_OneOfMany: a picture that cannot be drawn does not stop the others.
func TestRun_OneOfMany(t *testing.T) {
	workplace(t)
	code, stdout, stderr := plot("--kind=ladder", "--dtype=int4,int8")
	if code != cli.Failed || stdout != "out/performance_ladder_int8.png\n" || !strings.Contains(stderr, "no rows in int4") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestRun_ReadOnly: the folder cannot be written.
func TestRun_ReadOnly(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("this user may write everywhere")
	}
	workplace(t)
	if err := os.Chmod("out", 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod("out", 0o755) })
	code, _, stderr := plot("--kind=ladder")
	if code != cli.Failed || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "cannot write out/performance_ladder_") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
