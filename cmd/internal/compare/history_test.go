package compare

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/internal/cli"
	"matladder/results"
)

// daily writes a file a day of two machines to folder runs: on one of them v4_optblock is 6 %
// slower from the 20th day on, and wrong on the last.
func daily(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	for day := range 30 {
		for _, host := range []string{"ci-1", "ci-2"} {
			var rows []results.Record
			start := time.Date(2026, 9, 1+day, 6, 0, 0, 0, time.UTC)
			for i, kernel := range []string{"v3_block", "v4_optblock"} {
				level := 0.007 * rng.NormFloat64()
				if i == 1 && day >= 19 && host == "ci-1" {
					level += math.Log(1.06)
				}
				for round := range 12 {
					r := results.Record{
						Schema: results.Schema, RunID: host + start.String(), StartedAt: start, Host: host, Kernel: kernel, Mode: results.Measured,
						Method: results.Direct, Status: results.OK, MatladderVersion: "devel-" + start.Format("0102") + " kernels ab", Batch: 1,
						M: 64, K: 64, N: 64, DtypeA: "float32", BM: 64, BK: 64, BN: 64, Round: round, Launches: 1,
						Seconds: 1e-3 * math.Exp(level+0.01*rng.ExpFloat64()),
					}
					if i == 1 && day == 29 && host == "ci-1" {
						r.Status, r.Reason, r.Seconds = results.Wrong, "off", 0
					}
					rows = append(rows, r)
				}
			}
			writeRows(t, filepath.Join("runs", host, start.Format("0102")+".csv"), rows)
			if day == 25 { // a copy is no run more
				writeRows(t, filepath.Join("runs", "copy-"+host+".csv"), rows)
			}
		}
	}
}

func writeRows(t *testing.T, path string, rows []results.Record) {
	t.Helper()
	var text bytes.Buffer
	if err := results.Write(&text, rows); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text.String())
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestHistory: one change is found, with the run that brought it, and nothing else.
func TestHistory(t *testing.T) {
	t.Chdir(t.TempDir())
	daily(t)
	writeFile(t, "runs/notes.csv", "not \"a\" results file\n")
	writeFile(t, "empty/notes.txt", "")
	os.Symlink(".", "runs/folder.csv") // as what is no regular file, such as a pipe
	one, _ := os.ReadFile("runs/ci-1/0920.csv")
	writeFile(t, "first/0920.csv", string(one))
	code, stdout, stderr := compare("--history", "runs", "--out", "page/h.html", "--out", "h.png", "--out", "h.svg")
	if code != cli.OK || !strings.HasPrefix(stderr, "compare: runs/notes.csv:1: not a results file") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, c := range []struct {
		line string
		want int
	}{
		{"SLOWER   2026-09-20 06:00  devel-0920", 1}, {"FASTER", 0}, {"STEADY", 3}, {"UNSURE", 0},
		{"LOST     2026-09-30 06:00  devel-0930", 1}, {"19+10", 1}, {"      30  STEADY", 3}, {" · ci-1 · measured", 1}, {" · ci-2 · measured", 1},
	} {
		if n := strings.Count(stdout, c.line); n != c.want {
			t.Errorf("%d times %q, want %d\n%s", n, c.line, c.want, stdout)
		}
	}
	for path, begin := range map[string]string{"page/h.html": "<!doctype html>", "h.png": "\x89PNG", "h.svg": "<?xml"} {
		if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), begin) || path == "page/h.html" && !strings.Contains(string(text), "<td>SLOWER</td>") {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, csv, _ := compare("--history", "runs", "--as", "csv", "--kernel", "4")
	if !strings.Contains(csv, "runs/ci-1/0920.csv,2026-09-20T06:00:00Z,2026-09-20T06:00:00Z,2026-09-20T06:00:00Z,devel-0920 kernels ab") {
		t.Error(csv)
	}
	os.Remove("runs/notes.csv")
	os.Remove("runs/ci-1/0930.csv")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--history runs --fail-on-slower 3", cli.Failed, "1 of 4 points are lost or more than 3 % slower; the worst, v4_optblock 64×64×64 float32 64 measured, is slower by 5"},
		{"--history runs --fail-on-slower 9", cli.OK, ""},
		{"--history first --out first.png", cli.OK, ""},
		{"--history nowhere", cli.Usage, "--history: lstat nowhere: no such file"},
		{"--history h.svg", cli.Usage, "--history: h.svg is not a folder"},
		{"--history empty", cli.Usage, "--history: empty has no results files (.csv"},
		{"--history runs --kernel 5", cli.Failed, "runs has no rows that --kernel and --dtype pick: it has v3_block, v4_optblock in float32"},
		{"--history runs old.csv", cli.Usage, "--history takes a folder and no other files, as old.csv"},
		{"--history runs --out h.gif", cli.Usage, "--out h.gif: want a file that ends in .png, .svg or .html"},
		{"--history runs --ab", cli.Usage, "--ab and --history are different things to do: give one"},
		{"--history runs --pairs 3", cli.Usage, "--pairs is for --ab"},
		{"--history runs --across", cli.Usage, "--across is for files of two sides, not for --history"},
		{"old.csv new.csv --out h.png", cli.Usage, "--out is for --history"},
	} {
		code, _, stderr := compare(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" || c.want != "" && strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, want %d with %q\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
}
