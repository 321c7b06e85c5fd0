package compare

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"matladder/harness"
	"matladder/internal/cli"
	"matladder/results"
	"matladder/results/bundle"
	"matladder/stats"
	"matladder/tile"
)

// contentOf has those of a bundle as bench writes it: of a kernel, of XLA, and of a prediction.
func contentOf(t *testing.T) map[string][]byte {
	t.Helper()
	var rows []results.Record
	for round := range 6 {
		r := results.Record{
			Schema: results.Schema, RunID: "r", StartedAt: time.Date(2026, 9, 1, 6, 0, 0, 0, time.UTC), Kernel: "v3_block", Mode: results.Measured,
			Method: results.Direct, Status: results.OK, Backend: "cpu", Batch: 1, M: 64, K: 64, N: 64, DtypeA: "float32", DtypeB: "float32", DtypeAcc: "float32", DtypeOut: "float32",
			BM: 64, BK: 64, BN: 64, Round: round, Launches: 10, Seconds: 1e-4 + 1e-6*float64(round), Seed: results.Some[int64](1), Dist: "uniform", FLOPs: 2 * 64 * 64 * 64,
		}
		xla, predicted := r, r
		xla.Kernel, xla.Backend, xla.BM, xla.BK, xla.BN = results.Baseline, "xla-cpu", 0, 0, 0
		if rows = append(rows, r, xla); round == 0 {
			predicted.Mode, predicted.Method, predicted.Backend, predicted.Launches = results.Predicted, results.AOT, "aot", 1
			rows = append(rows, predicted)
		}
	}
	var text, figures, code bytes.Buffer
	if err := results.Write(&text, rows); err != nil {
		t.Fatal(err)
	}
	read, err := results.Read(bytes.NewReader(text.Bytes()), bundle.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := stats.WriteTable(&figures, "csv", stats.Summarize(read.Rows)); err != nil {
		t.Fatal(err)
	}
	_, programs, err := harness.Rebuild(&rows[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := tile.WritePrograms(&code, programs); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		bundle.Sweep: nil, bundle.Environment: nil,
		bundle.Rows: text.Bytes(), bundle.Figures: figures.Bytes(), bundle.Programs + "1.json": code.Bytes(), bundle.Programs + "1.txt": []byte(tile.Text(programs)),
		bundle.Programs + "3.json": code.Bytes(), bundle.Programs + "3.txt": []byte(tile.Text(programs)),
	}
}

// TestVerify: a bundle as it should be, and those that were changed behind right hashes.
func TestVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		change func(map[string][]byte)
		code   int
		want   string
	}{
		"as it should be": {func(map[string][]byte) {}, cli.OK, "outputs     of 1 point, computed again"},
		"a time": {func(m map[string][]byte) {
			m[bundle.Rows] = bytes.Replace(m[bundle.Rows], []byte("0.0001,"), []byte("0.00005,"), 1)
		}, cli.Failed, "figures.csv:2: time_seconds"},
		"a row less": {func(m map[string][]byte) {
			m[bundle.Rows] = m[bundle.Rows][:bytes.LastIndexByte(bytes.TrimSpace(m[bundle.Rows]), '\n')+1]
		}, cli.Failed, "figures.csv:3: samples"},
		"no columns": {func(m map[string][]byte) {
			m[bundle.Figures] = []byte(strings.Repeat("x\n", bytes.Count(m[bundle.Figures], []byte("\n"))))
		}, cli.Failed, "figures.csv has no column of a table of figures"},
		"no points": {func(m map[string][]byte) {
			for _, name := range []string{bundle.Rows, bundle.Figures} {
				m[name] = m[name][:bytes.IndexByte(m[name], '\n')+1]
			}
		}, cli.Failed, "figures.csv has not the 0 points"},
		"no figures": {func(m map[string][]byte) { delete(m, bundle.Figures) }, cli.Failed, "compare: run.zip: figures.csv is missing"},
		"a program": {func(m map[string][]byte) {
			m[bundle.Programs+"1.json"] = bytes.Replace(m[bundle.Programs+"1.json"], []byte(`"fill"`), []byte(`"empty"`), 1)
		}, cli.Failed, "programs/1.json: tile: "},
		"a program of another problem": {func(m map[string][]byte) {
			_, programs, err := harness.Rebuild(&results.Record{Kernel: "v3_block", Batch: 1, M: 128, K: 64, N: 64, DtypeA: "float32", BM: 64, BK: 64, BN: 64})
			if err != nil {
				t.Fatal(err)
			}
			var code bytes.Buffer
			tile.WritePrograms(&code, programs)
			m[bundle.Programs+"1.json"] = code.Bytes()
		}, cli.Failed, "the output of its program is wrong here: "},
		"no program": {func(m map[string][]byte) { delete(m, bundle.Programs+"1.json") }, cli.Failed, "compare: run.zip: programs/1.json is missing"},
		"a program that computes something else": {func(m map[string][]byte) {
			m[bundle.Programs+"1.json"] = bytes.Replace(m[bundle.Programs+"1.json"], []byte(`"number":0,`), []byte(`"number":1,`), 1)
		}, cli.Failed, "the output of its program is wrong here"},
		"its text": {func(m map[string][]byte) { m[bundle.Programs+"1.txt"] = []byte("v3") }, cli.OK, "another version printed its program otherwise: programs/1.txt"},
		"a column": {func(m map[string][]byte) {
			m[bundle.Figures] = bytes.Replace(m[bundle.Figures], []byte(",samples,"), []byte(",count,"), 1)
		}, cli.OK, "as one of both has them alone: count"},
		"no rows": {func(m map[string][]byte) { delete(m, bundle.Rows) }, cli.Failed, "compare: run.zip: rows.csv is missing"},
	} {
		content := contentOf(t)
		c.change(content)
		if err := bundle.Write("run.zip", content); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := compare("verify", "run.zip")
		if code != c.code || !strings.Contains(stdout+stderr, c.want) || strings.Count(stderr, "\n") != min(1, code) {
			t.Errorf("%s: exit %d, want %d with %q\n%s%s", name, code, c.code, c.want, stdout, stderr)
		}
		if code == cli.OK && (!strings.Contains(stdout, "the device of backend xla-cpu is not asked here: xla") || !strings.Contains(stdout, "a prediction: its compiler is not asked here: v3_block")) {
			t.Errorf("%s: %s", name, stdout)
		}
	}
	content := contentOf(t)
	if err := bundle.Write("new.zip", content); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "old.csv", string(content[bundle.Rows]))
	if code, stdout, stderr := compare("old.csv", "new.zip"); code != cli.OK || !strings.Contains(stdout, "v3_block") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for args, want := range map[string]string{
		"verify": "verify wants one bundle", "verify a.zip b.zip": "verify wants one bundle", "verify --fast": "verify wants one bundle",
		"verify nope.zip": "no such file", "verify old.csv": "old.csv: not a whole bundle", "verify .": "is a folder",
	} {
		code, _, stderr := compare(strings.Fields(args)...)
		if code == cli.OK || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", args, code, fmt.Sprint(stderr))
		}
	}
}
