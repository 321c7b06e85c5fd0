package bench

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/results"
	"matladder/results/bundle"
)

// sweepOf is the sweep of a run in words: kernels, sizes and dtypes of its rows.
func sweepOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := results.ReadFile(path)
	if err != nil || len(f.Warnings()) > 0 {
		t.Fatalf("%v, %v", err, f.Warnings())
	}
	points := map[string]bool{}
	for _, r := range f.Rows {
		points[strings.Join([]string{r.Kernel, r.DtypeA, r.Params, string(rune('0' + r.M/16))}, " ")] = true
	}
	return points
}

// TestRecall: --resume --out alone goes on with the sweep that the file is of, whatever
// has become of the sweep's own file, or refuses.
func TestRecall(t *testing.T) {
	t.Chdir(t.TempDir())
	config := "sizes: [16, 32, 48, 64]\nkernels: [3, 4]\ndtypes: [float32]\nrounds: {min: 1, max: 1}\n"
	if err := os.WriteFile("mine.yaml", []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stderr := &cancelWriter{text: "[1/", cancel: cancel}
	var stdout bytes.Buffer
	if code := Run(ctx, strings.Fields("--config mine.yaml --kernel 1,3 --param b=packed --out rows.csv --bundle run.zip"), &stdout, stderr); code != cli.Interrupted {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if !results.Unfinished("rows.csv") {
		t.Error("an interrupted sweep is not said to be unfinished")
	}
	if _, err := os.Stat("run.zip"); err == nil {
		t.Error("an interrupted sweep has a bundle")
	}
	before := len(sweepOf(t, "rows.csv"))
	os.Remove("mine.yaml")
	bench := func(args string) (int, string) {
		stdout.Reset()
		stderr.Reset()
		code := Run(context.Background(), strings.Fields(args), &stdout, stderr)
		return code, stdout.String() + stderr.String()
	}
	if code, said := bench("--resume --out rows.csv --list"); code != cli.OK || strings.Count(said, "\n") != 8 {
		t.Errorf("listed, exit %d:\n%s", code, said)
	}
	if code, said := bench("--resume --out rows.csv --time-budget 1m --bundle run.zip"); code != cli.OK || !strings.Contains(said, "\nrun.zip\n") {
		t.Fatalf("exit %d: %s", code, said)
	}
	content, err := bundle.Read("run.zip")
	rows, _ := os.ReadFile("rows.csv")
	if err != nil || !bytes.Equal(content[bundle.Rows], rows) || !bytes.Contains(content[bundle.Sweep], []byte("--param=b=packed")) ||
		!bytes.Contains(content[bundle.Environment], []byte("bandwidth of memory")) || len(content[bundle.Programs+"8.txt"]) == 0 || content[bundle.Programs+"9.txt"] != nil {
		t.Errorf("the bundle has %d files: %v", len(content), err)
	}
	if results.Unfinished("rows.csv") {
		t.Error("a sweep that ended is said to be unfinished")
	}
	got := sweepOf(t, "rows.csv")
	if len(got) != 8 || before == 0 || before == 8 || !got["v1_naive float32 b=packed 4"] || !got["v3_block float32 b=packed 1"] {
		t.Errorf("of %d points there are now %d: %v", before, len(got), got)
	}
	// Once more there is nothing to do; the record of both runs holds.
	text, _ := os.ReadFile("rows.csv")
	if code, said := bench("--resume --out rows.csv"); code != cli.OK {
		t.Errorf("exit %d: %s", code, said)
	}
	if after, _ := os.ReadFile("rows.csv"); !bytes.Equal(text, after) {
		t.Error("a complete sweep is measured again")
	}
	// A record that is not there, is of another file, or is no record.
	record, err := os.ReadFile("rows.csv.sweep")
	if err != nil {
		t.Fatal(err)
	}
	for said, do := range map[string]func() error{
		"nothing says which sweep rows.csv is of": func() error { return os.Remove("rows.csv.sweep") },
		"is of another file than rows.csv": func() error {
			return os.WriteFile("rows.csv.sweep", bytes.ReplaceAll(record, []byte("mine-"), []byte("other-")), 0o666)
		},
		"rows.csv.sweep: ": func() error { return os.WriteFile("rows.csv.sweep", []byte("{"), 0o666) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if code, out := bench("--resume --out rows.csv"); code != cli.Usage || !strings.Contains(out, said) || !strings.Contains(out, "give the flags of the sweep") {
			t.Errorf("want %q, exit %d:\n%s", said, code, out)
		}
		if after, _ := os.ReadFile("rows.csv"); !bytes.Equal(text, after) {
			t.Fatal("the file has changed")
		}
	}
	if code, out := bench("--resume --out nope.csv"); code != cli.Usage || !strings.Contains(out, "--resume: nope.csv is not there") {
		t.Errorf("no file, exit %d:\n%s", code, out)
	}
	// With flags the file goes on without a record, and has one again.
	os.Remove("rows.csv.sweep")
	if code, said := bench("--resume --out rows.csv --kernel 3 --sizes 16 --dtype int8 --time-budget 1ns"); code != cli.OK {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, said := bench("--resume --out rows.csv --list"); code != cli.OK || !strings.Contains(said, "int8×int8→int32") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// TestRun_FileRemoved: results that are removed while they are measured lie beside, and
// the execution has failed.
func TestRun_FileRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, do := range map[string]func() error{
		"removed":   func() error { return os.Remove("rows.csv") },
		"truncated": func() error { return os.Truncate("rows.csv", 0) },
	} {
		for _, at := range []string{"[1/2]", "[2/2]"} { // in the middle, and when nothing follows
			stderr := &cancelWriter{text: at, cancel: func() { do() }}
			var stdout bytes.Buffer
			code := Run(context.Background(), strings.Fields("--kernel 1,3 --sizes 32,48 --dtype float32 --time-budget 1ns --out rows.csv"), &stdout, stderr)
			if said := stderr.String(); code != cli.Failed || !strings.Contains(said, "rows.csv was ") || !strings.Contains(said, " rows are in rows.rescued.csv") {
				t.Errorf("%s at %s: exit %d, %s", name, at, code, said)
			}
			f, err := results.ReadFile("rows.rescued.csv")
			if err != nil || len(f.Rows) < 2 || at == "[2/2]" && len(f.Rows) != 4 || !strings.Contains(stdout.String(), "rows.rescued.csv: ") {
				t.Errorf("%s at %s: %v\n%s", name, at, err, stdout.String())
			}
			os.Remove("rows.csv")
			os.Remove("rows.rescued.csv")
		}
	}
}
