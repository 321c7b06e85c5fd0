package bench

import (
	"bytes"
	"strings"
	"testing"

	"matladder/harness"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// TestProgress_Words: lines name a problem whole, so that no two are alike.
func TestProgress_Words(t *testing.T) {
	var w bytes.Buffer
	p := &progress{w: &w}
	f := problem.AttentionFamily
	asked, err := f.Parse("float32:causal+window255,-")
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := f.ParseSizes("rows=2048:keys=2048:group=4")
	if err != nil {
		t.Fatal(err)
	}
	rows := []results.Record{{Kernel: "v1_scores", Status: results.Failed, Reason: "why"}}
	p.observe(harness.Event{Group: 1, Groups: 2, Problem: f.Make(sizes, asked), Rows: rows, Round: 1, Complete: true})
	title := "2048:group=4 float32 causal+window255,-"
	if want := "v1_scores " + title + ": failed: why\n[1/2] " + title + ": 1 round\n"; w.String() != want {
		t.Errorf("%q, want %q", w.String(), want)
	}
}

// TestProgress: when all groups have had their share, the bar says what the time that is
// left is spent on, and how much of it is over.
func TestProgress(t *testing.T) {
	var w bytes.Buffer
	p := &progress{w: &w, bar: newBar(&w)}
	e := harness.Event{Group: 3, Groups: 3, Problem: problem.New(512, 512, 512, tile.Float32), Round: 6, Complete: true, Done: 1}
	p.observe(e)
	if !strings.Contains(w.String(), "[3/3] 512") || !strings.Contains(w.String(), "99%") {
		t.Errorf("%q", w.String())
	}
	w.Reset()
	e.Complete, e.Narrowed, e.Kernel = false, 2, "v3_block"
	for _, e.Done = range []float64{0.25, 0.5} {
		p.observe(e)
	}
	if s := w.String(); !strings.Contains(s, "narrowing 2 wide intervals: 512") || !strings.Contains(s, "25%") || !strings.Contains(s, "50%") || strings.Contains(s, "[3/3]") {
		t.Errorf("%q", s)
	}
	p.finish()
	p.bar, e.Complete = nil, true
	w.Reset()
	p.observe(e)
	if want := "narrowing 2 wide intervals: 512 float32×float32→float32: 6 rounds\n"; w.String() != want {
		t.Errorf("%q, want %q", w.String(), want)
	}
}
