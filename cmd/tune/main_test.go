package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"matladder/backend/aot"
	"matladder/internal/cli"
	"matladder/tuned"
)

func TestMain(m *testing.M) {
	aot.Child()
	os.Exit(m.Run())
}

func tuneWith(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestTune tunes small problems, goes on where it ended, and lists and compares
// what it found.
func TestTune(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"--sizes", "80,96", "--dtype", "float32", "--threads", "1", "--candidates", "4"}
	code, stdout, stderr := tuneWith(append(args, "--kernel", "4")...)
	if want := regexp.MustCompile(`(?s)^v4_optblock 80x80x80 float32×float32→float32: blocks .*\nconfigs/tuned/cpu_\w+_1\.yaml: 2 rows\n$`); code != cli.OK || !want.MatchString(stdout) {
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
	if code, stdout, stderr = tuneWith(append(args, "--kernel", "3,4,5")...); code != cli.OK || !strings.Contains(stderr, "2 problems to tune, 2 in the table") {
		t.Fatalf("%d\n%s\n%s", code, stdout, stderr)
	}
	after, err := tuned.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	first, err := tuned.Parse("before", before)
	if err != nil || len(after.Rows) != 4 || after.Rows[0].Evidence.Seconds != first.Rows[0].Evidence.Seconds {
		t.Errorf("%v %+v", err, after.Rows)
	}

	code, stdout, stderr = tuneWith("--list", "--threads", "1")
	if code != cli.OK || strings.Count(stdout, "    blocks ") != 4 || !strings.Contains(stdout, "tuned_shape_class, a row whose sizes ") || strings.Count(stdout, " raced, ended by evidence; ") != 4 {
		t.Errorf("%d\n%s\n%s", code, stdout, stderr)
	}
	if err := os.WriteFile("theirs.py", []byte("{(6, 80, 80, 80, 'float32', 'float32'): (80, 80, 80),\n(6, 9, 9, 9, 'int8', 'int8'): (9, 9, 9)}"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = tuneWith("--import", "theirs.py", "--threads", "1")
	if code != cli.OK || !strings.Contains(stdout, "80x80x80 float32×float32: theirs 80x80x80, ours ") || !strings.Contains(stdout, "(tuned, float32→float32)") ||
		!strings.Contains(stdout, "9x9x9 int8×int8: theirs 9x9x9, ours unknown\n2 rows of theirs.py: ") {
		t.Errorf("%d\n%s\n%s", code, stdout, stderr)
	}
	if code, stdout, _ = tuneWith("--help"); code != cli.OK || !strings.Contains(stdout, "--candidates") {
		t.Errorf("%d %s", code, stdout)
	}
}

func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("bad.yaml", []byte("machine: x\nrows:\n  - {kernel: v4_optblock}\n"), 0o644)
	os.WriteFile("other.yaml", []byte("machine: tpu_v5e\nrows: []\n"), 0o644)
	os.WriteFile("file", nil, 0o644)
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
		{"--backend quantum", cli.Usage, `unknown backend "quantum"`},
		{"--backend aot --topology v9", cli.Usage, "--topology: "},
		{"--topology v5e", cli.Usage, "--topology needs --backend aot"},
		{"--time-budget -1s", cli.Usage, "is negative"},
		{"--candidates -1", cli.Usage, "is negative"},
		{"--audit --list", cli.Usage, "--audit goes with neither"},
		{"--audit --backend aot", cli.Usage, "--audit measures"},
		{"--audit --rounds 5", cli.Usage, "an interval takes 6"},
		{"--audit --page none.md", cli.Usage, "--page: open none.md"},
		{"--audit --page bad.yaml", cli.Usage, "--page: bad.yaml: the mark <!-- audit:begin -->"},
		{"--page x", cli.Usage, "--page is for --audit"},
		{"--list --import x", cli.Usage, "one of them at a time"},
		{"--kernel 1,2,3", cli.Usage, "nothing to tune"},
		{"--out bad.yaml", cli.Failed, "bad.yaml:3: shape"},
		{"--out other.yaml", cli.Usage, "other.yaml is the table of tpu_v5e, this is cpu_"},
		{"--list --out none.yaml", cli.Failed, "no table none.yaml; make it with"},
		{"--import none.py", cli.Usage, "none.py"},
		{"--import file", cli.Failed, "file: no tuned block sizes found"},
		{"--sizes 48 --kernel 4 --dtype int8 --out file/below.yaml", cli.Failed, "file"},
	} {
		code, stdout, stderr := tuneWith(strings.Fields(test.args)...)
		if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) || strings.Contains(stderr, "panic") || strings.Count(stderr, "\n") > 2 {
			t.Errorf("%s: %d %q %q", test.args, code, stdout, stderr)
		}
	}
}

// TestAudit audits two small problems, and puts what it finds into a page and a file.
func TestAudit(t *testing.T) {
	t.Chdir(t.TempDir())
	begin, end := cli.Marks(auditMarks)
	if err := os.WriteFile("page.md", []byte("above\n"+begin+"\nold\n"+end+"\nbelow\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--audit", "--sizes", "65,48x72x80", "--dtype", "float32,int8", "--kernel", "4", "--threads", "1", "--rounds", "6", "--candidates", "4", "--page", "page.md", "--note", "A note.", "--csv", "sub/a.csv"}
	code, stdout, stderr := tuneWith(args...)
	if code != cli.OK || stdout != "page.md\nsub/a.csv\n" {
		t.Fatalf("%d\n%s\n%s", code, stdout, stderr)
	}
	page, err := os.ReadFile("page.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"above\n" + begin + "\n\nA note.\n\nMeasured on ", "| 65 | v4_optblock | float32 | ", "| 48×72×80 | v4_optblock | int8→int32 | ",
		"from a table of 2 rows in ", "\n" + end + "\nbelow\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if rows, err := os.ReadFile("sub/a.csv"); err != nil || strings.Count(string(rows), "\n") != 3 {
		t.Errorf("%v\n%s", err, rows)
	}
	if files, _ := filepath.Glob("configs/tuned/*"); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}
