package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/internal/goldentest"
)

// kinder are points that fit here and are too big for JAX's library: it takes a window
// for sums of rows, or a mask, more.
var kinder = []string{
	"v5e flash bfloat16 8192x64 2048x2048x512",
}

// slower are points above FamilyTolerance, all beside tokamax, and how far. README.md tells
// what is known of why.
var slower = map[string]float64{
	"v7x tokamax_gmm bfloat16 8192x4096x4096x8 512x512x512":   1.04,
	"v7x tokamax_gmm bfloat16 8192x4096x4096x8 512x1024x1024": 1.23,
	"v7x tokamax_gmm bfloat16 8192x4096x4096x8 1024x512x1024": 1.05,
}

// TestFamilies holds the committed table to what it is for.
func TestFamilies(t *testing.T) {
	rows, err := ReadFamilies("families.csv")
	if err != nil {
		t.Fatal(err)
	}
	s := SummarizeFamilies(rows)
	for _, p := range FamilyMatrix() {
		if _, ok := rows[p.Key()]; !ok {
			t.Errorf("%s: not in the table", p.Key())
		}
	}
	for _, r := range s.Differ {
		if !slices.Contains(kinder, r.Key()) || r.Ours.Outcome != Fits || r.Theirs.Outcome != TooBig {
			t.Errorf("%s: %s (%s), library %s (%s)", r.Key(), r.Ours.Outcome, r.Ours.Reason, r.Theirs.Outcome, r.Theirs.Reason)
		}
	}
	for _, r := range s.Slow {
		if r.Ratio() <= slower[r.Key()] {
			continue
		}
		t.Errorf("%s: %.2f cycles a step, library %.2f", r.Key(), r.Ours.Cycles, r.Theirs.Cycles)
	}
	for _, r := range s.Unread {
		t.Errorf("%s: no cycles: %q, library %q", r.Key(), r.Ours.Reason, r.Theirs.Reason)
	}
}

// TestFamilies_Readme: README.md has the summary of the table of families.
func TestFamilies_Readme(t *testing.T) {
	rows, err := ReadFamilies("families.csv")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- families -->\n```\n"
	before, rest, found := strings.Cut(strings.ReplaceAll(string(readme), "\r\n", "\n"), mark)
	_, after, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("README.md has no fenced block for the families")
	}
	var text bytes.Buffer
	if err := SummarizeFamilies(rows).Print(&text); err != nil {
		t.Fatal(err)
	}
	goldentest.Assert(t, "README.md", []byte(before+mark+text.String()+"```\n"+after))
}

// TestFamilies_File: a table is read as it was written, whole rows and those without cycles.
func TestFamilies_File(t *testing.T) {
	path := filepath.Join(t.TempDir(), "families.csv")
	if rows, err := ReadFamilies(path); err != nil || len(rows) != 0 {
		t.Errorf("no file: %d rows, %v", len(rows), err)
	}
	all := FamilyMatrix()
	want := Families{}
	for i, p := range []FamilyPoint{all[3], all[len(all)-1]} {
		want[p.Key()] = FamilyRow{p, Result{Fits, "", 100 + float64(i)}, Result{TooBig, `it said "no", twice`, 0}}
	}
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFamilies(path)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for key, r := range want {
		if g := got[key]; g.Ours != r.Ours || g.Theirs != r.Theirs {
			t.Errorf("%s: %+v, want %+v", key, g, r)
		}
	}
	if err := os.WriteFile(path, []byte("a,b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFamilies(path); err == nil || !strings.Contains(err.Error(), ":1: the columns") {
		t.Error(err)
	}
	s := SummarizeFamilies(want)
	if s.Rows != 2 || len(s.Differ) != 2 || len(s.Slow) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestFamilies_Matrix: every point once, with a program of ours.
func TestFamilies_Matrix(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range FamilyMatrix() {
		if seen[p.Key()] {
			t.Errorf("%s: twice", p.Key())
		}
		seen[p.Key()] = true
		if _, err := p.program(); err != nil {
			t.Errorf("%s: %v", p.Key(), err)
		}
	}
}

// TestPublished: each row of what tokamax published is a point that both sides can be asked
// for, and the file is written as it was read.
func TestPublished(t *testing.T) {
	path := filepath.Join("..", "..", "model", "testdata", "attention_published.csv")
	rows, order := map[string]publishedRow{}, []publishedRow{}
	err := readSheet(path, publishedHeader, func(f []string) error {
		order, rows[publishedRow(f).Key()] = append(order, f), f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range order {
		p, err := r.point()
		if err == nil {
			_, err = p.program()
		}
		if err != nil {
			t.Errorf("%s: %v", r.Key(), err)
		}
	}
	copied := filepath.Join(t.TempDir(), "published.csv")
	if err := writeSheet(copied, publishedHeader, order, rows); err != nil {
		t.Fatal(err)
	}
	want, err1 := os.ReadFile(path)
	got, err2 := os.ReadFile(copied)
	if err1 != nil || err2 != nil || !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), got) {
		t.Errorf("%v, %v, %d bytes of %d", err1, err2, len(got), len(want))
	}
}
