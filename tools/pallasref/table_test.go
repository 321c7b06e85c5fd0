package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/tile"
)

// missing are the points that have no row yet. .ci/full completes the table.
var missing = []string{
	"v1_naive int8 4096 4096x4096x4096 v5e 0.0.42.1",
	"v1_naive bfloat16 4096 4096x4096x4096 v6e 0.0.42.1",
	"v1_naive int8 4096 4096x4096x4096 v6e 0.0.42.1",
	"v1_naive float32 2048 2048x2048x2048 v7x 0.0.42.1",
	"v2_parallel int8 4096 2048x4096x2048 v7x 0.0.42.1",
}

// slow are points whose schedule libtpu takes more than five minutes to write.
var slow = []string{
	"v1_naive bfloat16 2048 2048x2048x2048 v7x 0.0.42.1",
	"v1_naive int8 2048 2048x2048x2048 v7x 0.0.42.1",
}

// TestTable holds the committed table to what it is for.
func TestTable(t *testing.T) {
	table, err := ReadTable("table.csv")
	if err != nil {
		t.Fatal(err)
	}
	s := Summarize(table)
	if len(table) != s.Rows {
		t.Errorf("%d rows, %d of them of the matrix", len(table), s.Rows)
	}
	for _, p := range Matrix() {
		if _, ok := table[p.Key()]; ok == slices.Contains(missing, p.Key()) {
			t.Errorf("%s: in the table: %t; said to be missing: %t", p.Key(), ok, !ok)
		}
	}
	for _, r := range s.Differ {
		t.Errorf("%s: %s (%s), Pallas %s (%s)", r.Key(), r.Ours.Outcome, r.Ours.Reason, r.Pallas.Outcome, r.Pallas.Reason)
	}
	for kernel, ratio := range s.Median {
		if ratio > 1 {
			t.Errorf("%s: %.4f of the cycles of Pallas on the median", kernel, ratio)
		}
	}
	for _, r := range s.Slow {
		t.Errorf("%s: %.2f cycles a step, Pallas %.2f", r.Key(), r.Ours.Cycles, r.Pallas.Cycles)
	}
	for _, r := range s.Unread {
		t.Errorf("%s: no cycles: %q, Pallas %q", r.Key(), r.Ours.Reason, r.Pallas.Reason)
	}
	for _, r := range table {
		program, err := r.program()
		if err != nil {
			t.Fatal(err)
		}
		over, err := hopeless(program, r.Topology)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Ours.Outcome == Failed || r.Pallas.Outcome == Failed:
			t.Errorf("%s: an error: %q, Pallas %q", r.Key(), r.Ours.Reason, r.Pallas.Reason)
		case r.Ours.Outcome == Unsupported && !(r.Topology == "v4" && r.Dtype == tile.Int8):
			t.Errorf("%s: %s", r.Key(), r.Ours.Reason)
		case r.Pallas.Outcome == NotRun && !(over && r.Ours.Outcome == TooBig):
			t.Errorf("%s: not run, though windows and scratch do not exceed the memory", r.Key())
		case (r.Ours.Outcome == Timeout || r.Pallas.Outcome == Timeout) != slices.Contains(slow, r.Key()):
			t.Errorf("%s: %s, Pallas %s", r.Key(), r.Ours.Outcome, r.Pallas.Outcome)
		}
	}
}

// TestTableKnows looks up points whose outcome is known apart from the table.
func TestTableKnows(t *testing.T) {
	table, err := ReadTable("table.csv")
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]Outcome{
		"v1_naive float32 1024 1024x1024x1024 v5e 0.0.51":   Fits, // 12 MiB of 16
		"v1_naive float32 2048 2048x2048x2048 v5e 0.0.51":   TooBig,
		"v1_naive float32 1024 1024x1024x1024 v5e 0.0.42.1": Fits,
		"v1_naive float32 2048 2048x2048x2048 v5e 0.0.42.1": TooBig,
		"v3_block int8 512 128x128x128 v4 0.0.51":           Unsupported, // bfloat16 only in its matrix units
		"v5_quant float32 8192 512x1024x1024 v5e 0.0.51":    TooBig,      // 16.06 MiB of 16
		"v5_quant float32 8192 512x1024x1024 v6e 0.0.51":    Fits,
	}
	for key, want := range outcomes {
		if r := table[key]; r.Ours.Outcome != want || r.Pallas.Outcome != want {
			t.Errorf("%s: %q, Pallas %q, want %s", key, r.Ours.Outcome, r.Pallas.Outcome, want)
		}
	}
	// Bundles that another reader of dumps counted of Pallas' text, by libtpu 0.0.42.1.
	for key, want := range map[string]float64{
		"v5_quant bfloat16 8192 512x1024x1024 v5e 0.0.42.1": 8083,
		"v5_quant bfloat16 8192 512x1024x1024 v6e 0.0.42.1": 2497,
		"v5_quant bfloat16 8192 512x1024x1024 v5p 0.0.42.1": 8131,
		"v5_quant int8 8192 512x1024x1024 v7x 0.0.42.1":     1569,
	} {
		if got := table[key].Pallas.Cycles; math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s: Pallas takes %.0f cycles, want about %.0f", key, got, want)
		}
	}
}

// TestReadme: README.md has the summary of the table.
func TestReadme(t *testing.T) {
	table, err := ReadTable("table.csv")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(bytes.ReplaceAll(readme, []byte("\r\n"), []byte("\n")), []byte("```\n"))
	_, after, closed := bytes.Cut(rest, []byte("```\n"))
	if !found || !closed {
		t.Fatal("README.md has no fenced block for the summary")
	}
	var want bytes.Buffer
	want.Write(before)
	want.WriteString("```\n")
	if err := Summarize(table).Print(&want); err != nil {
		t.Fatal(err)
	}
	want.WriteString("```\n")
	want.Write(after)
	goldentest.Assert(t, "README.md", want.Bytes())
}

// TestMatrix: every kernel, dtype, size, generation and libtpu, once.
func TestMatrix(t *testing.T) {
	seen := map[string]bool{}
	shapes := map[string]int{}
	for _, p := range matrix() {
		if seen[p.Key()] {
			t.Errorf("%s: twice", p.Key())
		}
		seen[p.Key()] = true
		shapes[strings.Join([]string{p.Kernel.Name(), p.Dtype.String(), p.Topology, p.Libtpu}, " ")]++
	}
	// v1 to v3 have one shape at each of five sizes; v4 and v5 have two, and five at 4096.
	if len(shapes) != 5*3*5*2 {
		t.Errorf("%d of kernel, dtype, generation and libtpu", len(shapes))
	}
	for key, n := range shapes {
		want := 5
		if strings.HasPrefix(key, "v4") || strings.HasPrefix(key, "v5_") {
			want = 4*2 + 5
		}
		if n != want {
			t.Errorf("%s: %d points, want %d", key, n, want)
		}
	}
}

// TestFurther: as many points as are promised, each once, that the matrix does not have.
func TestFurther(t *testing.T) {
	all := Matrix()
	seen := map[string]bool{}
	for _, p := range all {
		seen[p.Key()] = true
	}
	if len(seen) != len(all) || len(all) != len(matrix())+drawn {
		t.Errorf("%d points, %d of them different, %d of the matrix", len(all), len(seen), len(matrix()))
	}
	for _, p := range Further() {
		if p.Size%p.Blocks.M != 0 || p.Size%p.Blocks.K != 0 || p.Size%p.Blocks.N != 0 {
			t.Errorf("%s: blocks that are not whole", p.Key())
		}
	}
}

// TestQueue: an interrupted run leaves the points that take minutes.
func TestQueue(t *testing.T) {
	points := slices.DeleteFunc(Matrix(), func(p Point) bool { return p.Libtpu != versions[0] })
	queue(points)
	last := points[len(points)-4:]
	for _, p := range last {
		if p.Kernel.Number() != 1 || p.Size != 4096 || p.Topology != "v5e" && p.Topology != "v6e" {
			t.Errorf("%s is among the last", p.Key())
		}
	}
	if first := points[0]; first.need() < 64<<20 {
		t.Errorf("%s is first: what is not compiled at all goes before it", first.Key())
	}
}

func TestTableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.csv")
	if rows, err := ReadTable(path); err != nil || len(rows) != 0 {
		t.Errorf("no file: %d rows, %v", len(rows), err)
	}
	all := Matrix()
	want := Table{}
	for i, p := range []Point{all[40], all[3]} {
		want[p.Key()] = Row{p, Result{Fits, "", 2 + float64(i)}, Result{TooBig, `it said "no", twice`, 0}}
	}
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTable(path)
	if err != nil || len(got) != 2 || got[all[40].Key()] != want[all[40].Key()] || got[all[3].Key()] != want[all[3].Key()] {
		t.Errorf("%v, %v", got, err)
	}
	text, _ := os.ReadFile(path)
	lines := strings.Split(string(text), "\n")
	if !strings.Contains(lines[1], all[3].Kernel.Name()+",") {
		t.Errorf("not in the order of the matrix:\n%s", text)
	}
	for change, fault := range map[string]string{
		strings.Replace(string(text), "libtpu,", "version,", 1):         ":1: the columns",
		strings.Replace(string(text), all[3].Blocks.String(), "512", 1): ":2: blocks",
		strings.Replace(string(text), lines[2], "a,b", 1):               "wrong number of fields",
	} {
		if err := os.WriteFile(path, []byte(change), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTable(path); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%v, want %q", err, fault)
		}
	}
}

// TestSummarize: every way in which a row may fail the bars is counted.
func TestSummarize(t *testing.T) {
	all := Matrix()
	results := []struct{ ours, pallas Result }{
		{Result{Fits, "", 100}, Result{Fits, "", 100}},
		{Result{Fits, "", 102}, Result{Fits, "", 100}},
		{Result{Fits, "", 100}, Result{TooBig, "", 0}},
		{Result{Fits, "lost", 0}, Result{Fits, "", 100}},
		{Result{TooBig, "", 0}, Result{TooBig, "", 0}},
		{Result{TooBig, "", 0}, Result{NotRun, "", 0}},
		{Result{Timeout, "", 0}, Result{TooBig, "", 0}},
	}
	table := Table{}
	for i, r := range results {
		table[all[i].Key()] = Row{all[i], r.ours, r.pallas}
	}
	s := Summarize(table)
	if s.Rows != 7 || s.Compared != 5 || s.Equal != 4 || s.WithCycles != 2 || s.NotCompared[NotRun] != 1 || s.NotCompared[Timeout] != 1 {
		t.Errorf("%+v", s)
	}
	for what, rows := range map[string][]Row{all[1].Key(): s.Slow, all[2].Key(): s.Differ, all[3].Key(): s.Unread} {
		if len(rows) != 1 || rows[0].Key() != what {
			t.Errorf("%v, want %s", rows, what)
		}
	}
	if i := slices.IndexFunc(s.Worst, func(r Row) bool { return r.Key() == all[1].Key() }); i < 0 {
		t.Errorf("worst: %v", s.Worst)
	}
}
