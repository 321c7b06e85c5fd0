package classroom

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/stats"

	"matladder/results"
	"matladder/workshop"

	"github.com/google/go-cmp/cmp"
)

func TestPredictions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", "predictions.csv")
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	var want []Prediction
	for i, text := range []string{"3.8 times", `"quoted", with a comma`, "=1+1", "fünf"} {
		p, err := NewPrediction(i, "  "+text+"\n", at)
		if err != nil {
			t.Fatal(err)
		}
		if err := AddPrediction(path, p); err != nil {
			t.Fatal(err)
		}
		want = append(want, Prediction{at, i, text})
	}
	got, err := ReadPredictions(path)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v -want +got\n%s", err, diff)
	}
	for _, bad := range []string{"x", "2026-11-23T05:00:00Z,99,no lesson", "yesterday,1,x", "2026-11-23T05:00:00Z,1,", "2026-11-23T05:00:00Z,1,a,b", "2026-11-23T05:00:00Z,1,\"a"} {
		if err := os.WriteFile(path, []byte(bad+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		p, _ := NewPrediction(1, "more", at)
		err := AddPrediction(path, p)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
		if text, _ := os.ReadFile(path); string(text) != bad+"\n" {
			t.Errorf("%q became %q", bad, text)
		}
	}
	for _, bad := range []string{"", " ", strings.Repeat("x", 401), "a\x1b[2J", "\xff"} {
		if _, err := NewPrediction(1, bad, at); err == nil {
			t.Errorf("%q is a prediction", bad)
		}
	}
}

// rows are some of a machine, a file of two kernels.
func rows(rates ...float64) []results.Record {
	var list []results.Record
	for round := range 6 {
		for i, rate := range rates {
			flops, _ := results.FLOPCount(1, 1024, 1024, 1024)
			list = append(list, results.Record{Schema: results.Schema, RunID: "r", StartedAt: time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC),
				Host: "laptop", Chip: "cpu_x", Device: "CPU X", Backend: "cpu", Kernel: []string{"v1_naive", "v2_parallel"}[i], Mode: results.Measured, Method: results.Direct, Status: results.OK,
				Batch: 1, M: 1024, K: 1024, N: 1024, DtypeA: "float32", DtypeB: "float32", DtypeOut: "float32", Round: round, Launches: 1,
				Seconds: float64(flops) / rate, FLOPs: flops, PeakFLOPs: 100e9})
		}
	}
	return list
}

func handedIn(t *testing.T, name string, rates ...float64) string {
	t.Helper()
	folder := t.TempDir()
	var b bytes.Buffer
	if err := results.Write(&b, rows(rates...)); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(folder, "rows.csv")
	if err := os.WriteFile(source, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := NewPrediction(2, "twice", time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	h, err := Collect(name, []string{source}, []Prediction{p}, []Verdict{{0, true}, {3, false}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "in", name+".zip")
	if err := h.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestClass: what people hand in is what a class shows, each under their own name
// though all laptops have one.
func TestClass(t *testing.T) {
	var c Class
	for name, rates := range map[string][]float64{"Bea": {20e9, 60e9}, "Ada": {10e9, 40e9}} {
		h, warnings, err := OpenHandIn(handedIn(t, name, rates...))
		if err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
		if name == "Ada" {
			h.Verdicts = append(h.Verdicts, Verdict{10, true})
		}
		if err := c.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Add(&HandIn{Name: "Ada"}); err == nil {
		t.Error("two hand-ins of one name")
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := c.WritePredictions(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range [][]string{{"name"}, {"Ada", " 0---------0--- ", "10.0 GFLOP/s", "4.00×", "40.0 (v2)"}, {"Bea", "20.0 GFLOP/s", "3.00×", "60.0 (v2)"}, {""}, {"of 2: 0: 2 · 1: 0"}, {"lesson 2"}, {"  Ada: twice"}, {"  Bea: twice"}} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d lacks %q:\n%s", i, part, b.String())
			}
		}
	}
	pictures, err := c.Pictures()
	if err != nil || len(pictures) != 1 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	if got := Answers(2, c[:1].Summaries()); len(got) != 2 || !strings.Contains(got[1].Text, "v2 is 4.00 times as fast as v1 at 1024") {
		t.Errorf("answers: %v", got)
	}
}

// TestAnswers_Attention: what lessons 8 and 9 ask about the clock is answered by rows of
// another family than matmul.
func TestAnswers_Attention(t *testing.T) {
	var rows []results.Record
	for i, r := range []results.Record{
		{Kernel: "v1_scores", DtypeA: "float32", Shape: "rows=1024,keys=1024", Options: "causal"},
		{Kernel: "v2_rows", DtypeA: "float32", Shape: "rows=1024,keys=1024", Options: "causal"},
		{Kernel: "v3_flash", DtypeA: "float32", Shape: "rows=1024,keys=1024", Options: "causal"},
		{Kernel: "v4_skip", DtypeA: "bfloat16", Shape: "rows=1,keys=8192,heads=32,group=4,dim=128"},
		{Kernel: "v5_split", DtypeA: "bfloat16", Shape: "rows=1,keys=8192,heads=32,group=4,dim=128"},
	} {
		r.Family, r.Figure, r.Status, r.Mode, r.Method, r.Backend = "attention", "flops", results.OK, results.Measured, results.Direct, "cpu"
		r.FLOPs, r.Seconds, r.Launches = 1e9, 1/float64(i+1), 1
		rows = append(rows, r)
	}
	points := stats.Summarize(rows)
	for lesson, want := range map[int]string{8: "the fastest is v3_flash, beside v1: 3.00 times as fast", 9: "v5 beside v4: 1.25 times as fast"} {
		got := Answers(lesson, points)
		if n := len(got); n != 3 || !strings.HasPrefix(got[2].Text, want) {
			t.Errorf("lesson %d: %v, want %q", lesson, got, want)
		}
		if none := Answers(lesson, nil); len(none) != 2 {
			t.Errorf("lesson %d of no rows: %v", lesson, none)
		}
	}
}

// TestAnswers_Formats: what lesson 11 asks is answered by rows of quantized products: of
// MXFP4 and not of NVFP4, and of weights of MXFP4 beside bfloat16.
func TestAnswers_Formats(t *testing.T) {
	rows := []results.Record{
		{Kernel: "v5_quant", DtypeA: "bfloat16", DtypeB: "bfloat16", M: 1, Seconds: 3},
		{Kernel: "v6_mx", DtypeA: "bfloat16", DtypeB: "float4_e2m1fn", Quant: "per_block32+e8m0", M: 1, Seconds: 2},
		{Kernel: "v5_quant", DtypeA: "int8", DtypeB: "int8", Quant: "per_channel+token", M: 16, Seconds: 1, QuantRelErr: results.Some(0.005)},
		{Kernel: "v6_mx", DtypeA: "float4_e2m1fn", DtypeB: "float4_e2m1fn", Quant: "per_block32+token_block+e8m0", M: 16, Seconds: 2, QuantRelErr: results.Some(0.2)},
		{Kernel: "v6_mx", DtypeA: "float4_e2m1fn", DtypeB: "float4_e2m1fn", Quant: "per_block16+token_block+e4m3", M: 16, Seconds: 1, QuantRelErr: results.Some(0.1)},
	}
	for i := range rows {
		r := &rows[i]
		r.Family, r.Figure, r.Status, r.Mode, r.Method, r.Backend = "matmul", "flops", results.OK, results.Measured, results.Direct, "cpu"
		r.K, r.N, r.FLOPs, r.Launches, r.Batch = 1024, 1024, 1e9, 1, 1
	}
	got := Answers(11, stats.Summarize(rows))
	if len(got) != 4 || !strings.HasPrefix(got[2].Text, "weights of MXFP4 beside bfloat16: 1.50 times as fast") || got[3].Text != "MXFP4 loses 40.0 times what int8 does" {
		t.Errorf("%v", got)
	}
}

// zipped makes an archive of parts.
func zipped(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const about = formatFirst + "\nAda\nlinux\n"

// TestOpenHandIn_Page: a page's hand-in has verdicts and the files of exercises.
func TestOpenHandIn_Page(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(path, zipped(t, "about.txt", about, "verdicts.csv", "0,false\n3,true\n", "workshop/exercises/ex3/zero.go", "package ex3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h, warnings, err := OpenHandIn(path)
	if err != nil || len(warnings) > 0 || h.Name != "Ada" || !slices.Equal(h.Verdicts, []Verdict{{0, false}, {3, true}}) {
		t.Errorf("%+v, %v, %v", h, warnings, err)
	}
}

// TestOpenHandIn_Bad: what is no hand-in is refused in one line.
func TestOpenHandIn_Bad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zip")
	for what, text := range map[string][]byte{
		"nothing":         {},
		"no zip":          []byte("name,machine\n"),
		"no about":        zipped(t, "predictions.csv", ""),
		"another format":  zipped(t, "about.txt", "matladder workshop hand-in 2\nAda\nx\n"),
		"a path as name":  zipped(t, "about.txt", formatFirst+"\n../../x\nlinux\n"),
		"a control":       zipped(t, "about.txt", formatFirst+"\nA\x1b[2Jda\nlinux\n"),
		"another part":    zipped(t, "about.txt", about, "../../etc/passwd", "x"),
		"a part twice":    zipped(t, "about.txt", about, "about.txt", about),
		"no predictions":  zipped(t, "about.txt", about, "predictions.csv", "x"),
		"a 100th lesson":  zipped(t, "about.txt", about, "verdicts.csv", "99,true\n"),
		"a verdict twice": zipped(t, "about.txt", about, "verdicts.csv", "1,true\n1,false\n"),
		"no results":      zipped(t, "about.txt", about, "results/000.csv", "a,b\n1,2\n"),
		"a bomb":          zipped(t, "about.txt", about, "results/000.csv", strings.Repeat("\n", mostPart+1)),
	} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := OpenHandIn(path)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path+" is no hand-in") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzHandIn: whatever the parts say, reading ends with a class or an error, and what
// it prints has no control characters.
func FuzzHandIn(f *testing.F) {
	f.Add(about, "2026-11-23T05:00:00Z,1,x\n", "1,true\n", "schema,kernel,mode,status,m,k,n,dtype_a,launches,seconds\n1,v1_naive,measured,ok,64,64,64,float32,1,0.5\n")
	f.Fuzz(func(t *testing.T, about, predictions, verdicts, rows string) {
		path := filepath.Join(t.TempDir(), "x.zip")
		if err := os.WriteFile(path, zipped(t, "about.txt", about, "predictions.csv", predictions, "verdicts.csv", verdicts, "results/000.csv", rows), 0o644); err != nil {
			t.Fatal(err)
		}
		h, _, err := OpenHandIn(path)
		if err != nil {
			return
		}
		var b strings.Builder
		c := Class{h}
		c.Write(&b)
		c.WritePredictions(&b)
		c.Pictures()
		if strings.ContainsFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			t.Errorf("prints %q", b.String())
		}
	})
}

// TestReset keeps what stood there.
func TestReset(t *testing.T) {
	folder, e := t.TempDir(), workshop.All[3]
	path := filepath.Join(folder, filepath.FromSlash(e.File()))
	now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	if _, err := Reset(folder, e, now); err == nil {
		t.Error("an exercise was made outside the repository")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("package ex3 // mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	kept, err := Reset(folder, e, now)
	if err != nil {
		t.Fatal(err)
	}
	mine, _ := os.ReadFile(kept)
	text, _ := os.ReadFile(path)
	if blank, _ := e.Blank(); string(mine) != "package ex3 // mine\n" || string(text) != blank {
		t.Errorf("%s has %q, %s %q", kept, mine, path, text)
	}
	if kept, err := Reset(folder, e, now); err != nil || kept != "" {
		t.Errorf("a second time: %q, %v", kept, err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if kept, err := Reset(folder, e, now); err != nil || kept != "" {
		t.Errorf("with the ends of lines of Windows: %q, %v", kept, err)
	}
}

// TestReady: away from the repository something is missing, whatever the machine, and
// each finding is one line.
func TestReady(t *testing.T) {
	list := Ready(context.Background(), t.TempDir())
	missing := false
	for _, f := range list {
		missing = missing || f.Level == Missing && f.What == "folder"
		if f.Text == "" || strings.Contains(f.Text, "\n") {
			t.Errorf("%+v", f)
		}
	}
	if !missing {
		t.Errorf("%+v", list)
	}
}
