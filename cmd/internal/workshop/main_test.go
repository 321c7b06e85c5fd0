package workshop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
	"matladder/workshop"
)

// workshopRun runs the command on the exercises as they come.
func workshopRun(args ...string) (code int, stdout, stderr string) {
	var out, wrong bytes.Buffer
	code = run(context.Background(), args, &out, &wrong, workshop.Exercise.CheckBlank)
	return code, out.String(), wrong.String()
}

// TestManual runs the examples of the documentation.
func TestManual(t *testing.T) {
	list := clitest.Examples(t, "workshop", 2)
	t.Chdir(t.TempDir())
	for _, e := range list {
		code, stdout, stderr := workshopRun(e.Args...)
		if code == cli.Usage {
			t.Errorf("exit %d", code)
		}
		e.Check(t, stdout+stderr)
	}
}

// TestStatus: a check that fails is 1, a mistake in the command one line and 2.
func TestStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]int{
		"":             cli.Usage,
		"help":         cli.Usage,
		"list 3":       cli.Usage,
		"check 99":     cli.Usage,
		"check three":  cli.Usage,
		"check -1":     cli.Usage,
		"hint":         cli.Usage,
		"hint 99":      cli.Usage,
		"hint 1 3":     cli.Usage,
		"hint 1 0":     cli.Usage,
		"solution":     cli.Usage,
		"solution 1 2": cli.Usage,
		"check --fast": cli.Usage,
		"check 0":      cli.Failed,
		"check 7 ex0":  cli.Failed,
		"list":         cli.OK,
		"hint 3":       cli.OK,
		"solution 3":   cli.OK,
		"--help":       cli.OK,

		"ready now":              cli.Usage,
		"reset":                  cli.Usage,
		"reset 99":               cli.Usage,
		"predict 99 more":        cli.Usage,
		"predict":                cli.OK,
		"predict 2":              cli.OK,
		"predict 2 twice":        cli.OK,
		"predict --input no.csv": cli.Usage,
		"collect":                cli.Usage,
		"collect ../x":           cli.Usage,
		"class":                  cli.Usage,
		"class nowhere":          cli.Usage,
		"list --input x":         cli.Usage,
		"serve 8080":             cli.Usage,
	} {
		code, stdout, stderr := workshopRun(strings.Fields(args)...)
		if code != want {
			t.Errorf("workshop %s: exit %d, want %d\n%s%s", args, code, want, stdout, stderr)
		}
		if lines := strings.Count(stderr, "\n"); lines != map[bool]int{true: 1}[want == cli.Usage] {
			t.Errorf("workshop %s: %d lines of errors: %s", args, lines, stderr)
		}
		if (stdout == "") != (want == cli.Usage) {
			t.Errorf("workshop %s prints %q", args, stdout)
		}
	}
}

// TestRoom goes the way of a class: measure, hand in, look at all.
func TestRoom(t *testing.T) {
	quiet, err := filepath.Abs(filepath.FromSlash("../../../plots/testdata/sample_cpu.csv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"collect", "Ada"}, cli.Failed, ""},
		{[]string{"predict", "0", "100 GFLOP/s, 50 %"}, cli.OK, "predicted  100 GFLOP/s, 50 %"},
		{[]string{"predict", "0", "--input", quiet}, cli.OK, "is         the peak is "},
		{[]string{"collect", "Ada", "--input", quiet, "--out", "in/ada.zip"}, cli.OK, "1 prediction, 0 of 14 exercises right"},
		{[]string{"collect", "Bea B", "--input", quiet, "--out", "in/bea.zip"}, cli.OK, "in/bea.zip"},
		{[]string{"class", "in"}, cli.OK, "out/class/performance_ladder"},
		{[]string{"class", "in", "in/ada.zip"}, cli.Failed, "Ada"}, // twice
		{[]string{"reset", "1"}, cli.Failed, ""},                   // not in the repository
	} {
		code, stdout, stderr := workshopRun(step.args...)
		if code != step.code || !strings.Contains(stdout, step.want) || code == cli.OK && stderr != "" {
			t.Errorf("workshop %q: exit %d, want %d with %q\n%s%s", step.args, code, step.code, step.want, stdout, stderr)
		}
	}
}

// TestServe: the pages of an archive are served until Ctrl-C; elsewhere they cannot be made.
func TestServe(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := workshopRun("serve"); code != cli.Failed || !strings.Contains(stderr, "run this from the repository's top folder") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.MkdirAll("site/workshop", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("site/workshop/index.html", []byte("lessons"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"serve", "--addr", "127.0.0.1:0"}, stdout, io.Discard, workshop.Exercise.CheckBlank)
	}()
	var url string
	if _, err := fmt.Fscan(out, &url); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(text) != "lessons" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	cancel()
	if code := <-ended; code != cli.OK {
		t.Errorf("exit %d", code)
	}
	stdout.Close()
}

// TestCheck_Canceled: Ctrl-C is not a verdict.
func TestCheck_Canceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"check", "5"}, &stdout, &stderr, workshop.Exercise.CheckBlank); code != cli.Interrupted || stdout.Len() > 0 {
		t.Errorf("exit %d, prints %s%s", code, stdout.String(), stderr.String())
	}
}

// TestCheck_All: without a number all exercises are looked at, and it is a
// success if all are right.
func TestCheck_All(t *testing.T) {
	for name, c := range map[string]struct {
		look checker
		want int
	}{
		"blanks":    {workshop.Exercise.CheckBlank, cli.Failed},
		"solutions": {workshop.Exercise.CheckSolution, cli.OK},
	} {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), []string{"check"}, &stdout, &stderr, c.look)
		if n := strings.Count("\n"+stdout.String(), "\nexercise "); code != c.want || n != len(workshop.All) {
			t.Errorf("%s: exit %d, %d exercises:\n%s%s", name, code, n, stdout.String(), stderr.String())
		}
	}
}
