package compare

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
	"matladder/internal/goldentest"
	"matladder/results"
)

// workplace changes to a new folder with old.csv, a run on a CPU, and files that
// differ from it.
func workplace(t *testing.T) {
	t.Helper()
	old, err := results.ReadFile(filepath.Join("..", "..", "..", "plots", "testdata", "sample_cpu.csv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	file := func(name string, change func(*results.Record)) {
		var rows []results.Record
		for _, r := range old.Rows {
			change(&r)
			rows = append(rows, r)
		}
		var text bytes.Buffer
		if err := results.Write(&text, rows); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file("old.csv", func(*results.Record) {})
	file("new.csv", func(r *results.Record) {
		r.MatladderVersion = "0.2.0"
		switch r.Kernel {
		case "v3_block":
			r.Seconds *= 1.15
		case "v4_optblock":
			r.Seconds *= 0.7
		case "v2_parallel":
			if r.M == 512 {
				r.Status, r.Reason, r.Seconds = results.Wrong, "off", 0
			}
		}
	})
	file("old2.csv", func(r *results.Record) { r.RunID, r.Seconds = "again", r.Seconds*1.004 })
	file("new2.csv", func(r *results.Record) { r.RunID, r.Seconds = "again", r.Seconds*0.8 })
	file("fast.csv", func(r *results.Record) { r.Seconds *= 0.5 })
	file("host.csv", func(r *results.Record) { r.Host, r.Threads = "bench-02", 4 })
	file("elsewhere.csv", func(r *results.Record) { r.M++ })
	text, err := os.ReadFile("old.csv")
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(string(text), "\n")
	for name, text := range map[string]string{"header.csv": header + "\n", "notes.csv": "not \"a\" results file\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compare(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestRun_Table holds the table to a golden file.
func TestRun_Table(t *testing.T) {
	workplace(t)
	code, stdout, stderr := compare("--dtype=float32", "old.csv", "new.csv")
	if code != cli.OK || stderr != "" {
		t.Errorf("exit %d: %s", code, stderr)
	}
	_, md, _ := compare("--dtype=float32", "--kernel=4", "--best", "--format=md", "old.csv", "new.csv")
	_, csv, _ := compare("--dtype=int8", "--kernel=3,xla", "--format=csv", "old.csv", "new.csv")
	_, several, _ := compare("--dtype=float32", "--kernel=2,3", "old.csv", "old2.csv", "--", "new.csv", "new2.csv")
	goldentest.Assert(t, filepath.Join(source, "testdata", "table.golden"), []byte(stdout+"\n"+md+"\n"+csv+"\n"+several))
}

// source is the folder of this file; tests change to others.
var source, _ = os.Getwd()

// TestRun_Status: what each outcome exits with, and says in one line.
func TestRun_Status(t *testing.T) {
	workplace(t)
	for _, c := range []struct {
		args string
		code int
		want string // in stderr
	}{
		{"old.csv new.csv", cli.OK, ""},
		{"old.csv new.csv --fail-on-slower 5% --kernel 3 --dtype float32", cli.Failed, "compare: 5 of 5 points are lost or more than 5 % slower; the worst, v3_block 128×128×128 float32 "},
		{"old.csv new.csv --fail-on-slower 20% --kernel 3,4 --dtype float32", cli.OK, ""},
		{"old.csv new.csv --fail-on-slower 20% --kernel 2 --dtype float32", cli.Failed, "1 of 5 points are lost or more than 20 % slower; the worst, v2_parallel 256×512×256 float32 512 measured, is lost, it is wrong"},
		{"old.csv fast.csv --fail-on-slower 5", cli.OK, ""},
		{"old.csv host.csv", cli.Failed, "not the same machine or method: host: bench-01, then bench-02; threads: 2, then 4; --across compares all the same"},
		{"old.csv host.csv --across --dtype float32 --kernel 1", cli.OK, "compare: across host: bench-01, then bench-02\ncompare: across threads: 2, then 4\n"},
		{"old.csv elsewhere.csv", cli.Failed, "share no point that ran"},
		{"old.csv", cli.Usage, "want two results files, the old one first, or more with -- between old and new; have 1"},
		{"old.csv old2.csv new.csv", cli.Usage, "with -- between old and new; have 3"},
		{"old.csv old2.csv --", cli.Usage, "want results files on both sides of --, the old ones first"},
		{"old.csv old2.csv -- old.csv", cli.Usage, "old.csv is named twice"},
		{"--kernel 4 --dtype float32 --fail-on-slower 5 new.csv new2.csv -- old.csv old2.csv", cli.Failed, "of 17 points are lost or more than 5 % slower; the worst, v4_optblock"},
		{"old.csv new.csv --fail-on-slower five", cli.Usage, `--fail-on-slower: "five" is not a percentage such as 5%`},
		{"old.csv new.csv --band -1", cli.Usage, "--band: "},
		{"old.csv new.csv --format xml", cli.Usage, "known are text, md, csv"},
		{"old.csv nope.csv", cli.Usage, "compare: open nope.csv: "},
		{"old.csv .", cli.Usage, "compare: . is a folder, not a results file\n"},
		{"old.csv notes.csv", cli.Usage, "compare: notes.csv:1: not a results file: "},
		{"old.csv header.csv", cli.Failed, "compare: header.csv has no rows; make some with: go run ./cmd/bench\n"},
		{"old.csv new.csv --kernel 99", cli.Failed, "compare: old.csv has no rows that --kernel and --dtype pick: it has xla, v1_naive, v2_parallel, v3_block, v4_optblock, v5_quant in bfloat16, float32, int8\n"},
		{"old.csv new.csv --dtype bf16", cli.Failed, "compare: old.csv has no rows that --kernel and --dtype pick"},
		{"old.csv new.csv --kernel=", cli.Usage, "--kernel is empty"},
		{"old.csv new.csv --best=maybe", cli.Usage, `--best: "maybe" is neither true nor false`},
		{"--colour", cli.Usage, "unknown flag: --colour"},
	} {
		code, _, stderr := compare(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" || code != cli.OK && strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, want %d with %q\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := Run(ctx, []string{"old.csv", "new.csv"}, &stdout, &stderr); code != cli.Interrupted || stdout.Len() > 0 || stderr.String() != "compare: interrupted\n" {
		t.Errorf("interrupted: exit %d\n%s%s", code, &stdout, &stderr)
	}
	if code, stdout, _ := compare("--help"); code != cli.OK || !strings.HasPrefix(stdout, "Compare says which points") {
		t.Errorf("--help: exit %d: %s", code, stdout)
	}
}

// TestManual runs the examples of the documentation that compare files.
func TestManual(t *testing.T) {
	list := clitest.Examples(t, "compare", 2)
	workplace(t)
	for _, e := range append(list, clitest.InManual("compare", manual)...) {
		code, stdout, stderr := compare(e.Args...)
		if code != cli.OK {
			t.Errorf("%s: exit %d: %s", e.Args, code, stderr)
		}
		if e.Want != "" {
			e.Check(t, stdout)
		}
	}
}
