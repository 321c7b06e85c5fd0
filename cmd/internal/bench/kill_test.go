package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"matladder/internal/cli"
	"matladder/results"
)

// benchProcess is the command as a process of its own: this test's executable, which TestMain makes
// bench.
func benchProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), benchVariable+"=1")
	return cmd
}

const sweep = `
sizes: [48, 64]
kernels: [1, 3, 5]
blocks: 128x128x128
dtypes: [float32, int8]
rounds: {min: 4, max: 4}
repetitions: 1
`

// wantRows is the product of the sweep's lists and rounds: what a quiet machine measures.
const wantRows = 2 * 3 * 2 * leastRounds

// leastRounds has every point; one that others disturbed has more.
const leastRounds = 4

// TestKill kills the binary three times in the middle of the sweep, then lets it
// finish: no row is lost or doubled, the rest is measured.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "sweep.yaml"), filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(config, []byte(sweep), 0o666); err != nil {
		t.Fatal(err)
	}
	var before []byte
	for i := range 3 {
		cmd := benchProcess(t, "--config", config, "--out", out, "--resume")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		grown := waitFor(out, len(before)+2500*(i+1))
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil || !grown {
			t.Fatalf("execution %d ended before it was killed: %v", i, err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, closed(before)) {
			t.Errorf("execution %d changed rows that were there", i)
		}
		before = text
	}
	text, err := benchProcess(t, "--config", config, "--out", out, "--resume").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	after, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(after, closed(before)) {
		t.Error("the last execution changed rows that were there")
	}
	audit(t, out)
}

// waitFor waits until a file has size bytes.
func waitFor(path string, size int) bool {
	for range 6000 {
		if info, err := os.Stat(path); err == nil && info.Size() >= int64(size) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// closed is the part of a journal up to its last round that was written whole:
// its last row begins with a quoted cell.
func closed(text []byte) []byte {
	end := 0
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if bytes.HasPrefix(line, []byte(`"`)) && bytes.HasSuffix(line, []byte("\n")) {
			end = at
		}
	}
	return text[:end]
}

func audit(t *testing.T, path string) {
	t.Helper()
	f, err := results.ReadFile(path)
	if err != nil || len(f.Warnings()) > 0 {
		t.Fatalf("%v, %v", err, f.Warnings())
	}
	rounds := map[results.PointKey]int{}
	type cell struct {
		key        results.PointKey
		round, rep int
	}
	seen := map[cell]bool{}
	runs := map[string]bool{}
	for i := range f.Rows {
		r := &f.Rows[i]
		c := cell{r.Point(), r.Round, r.Rep}
		if seen[c] || r.Status != results.OK || r.Rep > 0 {
			t.Errorf("row %d: doubled (%v) or not ok: %+v", i, seen[c], *r)
		}
		seen[c] = true
		runs[r.RunID] = true
		rounds[r.Point()] = max(rounds[r.Point()], r.Round+1)
	}
	whole := len(seen) >= wantRows && len(rounds) == wantRows/leastRounds && len(runs) > 1
	for p, n := range rounds {
		whole = whole && n >= leastRounds
		for round := range leastRounds { // a point that converges early skips later rounds
			whole = whole && seen[cell{p, round, 0}]
		}
	}
	if !whole {
		t.Errorf("%d different rows of %d runs and %d points, want %d or more of several and %d, the first rounds of each", len(seen), len(runs), len(rounds), wantRows, wantRows/leastRounds)
	}
}

// TestSignal sends what Ctrl-C sends.
func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no way to send an interrupt to another process")
	}
	out := filepath.Join(t.TempDir(), "rows.csv")
	cmd := benchProcess(t, "--kernel", "1,4", "--sizes", "128,136,144,152,160", "--time-budget", "30s", "--out", out)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !waitFor(out, 3000) {
		t.Error("nothing is measured")
	}
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.Interrupted {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "v1_naive") || !strings.Contains(stdout.String(), "rows.csv: ") {
		t.Errorf("no table of what exists:\n%s", stdout.String())
	}
	if f, err := results.ReadFile(out); err != nil || len(f.Warnings()) > 0 || len(f.Rows) == 0 {
		t.Errorf("the file is not whole: %v", err)
	}
}

// TestPipe: a reader that goes away after the first line (| head -1) ends no sweep.
func TestPipe(t *testing.T) {
	out := filepath.Join(t.TempDir(), "rows.csv")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := benchProcess(t, "--kernel", "1,3", "--sizes", "48,64", "--dtype", "float32,int8", "--time-budget", "1ns", "--out", out)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	r.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if f, err := results.ReadFile(out); err != nil || len(f.Rows) != 8 {
		t.Errorf("%d rows, %v", len(f.Rows), err)
	}
}
