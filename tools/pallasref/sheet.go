package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"matladder/internal/files"
)

// What both tables have in common: rows of points that were compiled on two sides, as CSV.

// compared is a row: a point, and what became of it on our side and on the other.
type compared interface {
	Key() string
	record() []string
	sides() (ours, theirs Result)
}

// ratio is of our cycles of a step to theirs; 0 if one is unknown.
func ratio(ours, theirs Result) float64 {
	if ours.Cycles == 0 || theirs.Cycles == 0 {
		return 0
	}
	return ours.Cycles / theirs.Cycles
}

// cells are the last columns of a row: outcomes, cycles, their ratio and reasons.
func cells(ours, theirs Result) []string {
	number := func(x float64, digits int) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', digits, 64)
	}
	return []string{
		string(ours.Outcome), string(theirs.Outcome),
		number(ours.Cycles, 2), number(theirs.Cycles, 2), number(ratio(ours, theirs), 4), ours.Reason, theirs.Reason,
	}
}

// parseCells reads what cells wrote.
func parseCells(f []string) (ours, theirs Result, err error) {
	number := func(s string) (x float64) {
		if s != "" && err == nil {
			x, err = strconv.ParseFloat(s, 64)
		}
		return x
	}
	ours = Result{Outcome(f[0]), f[5], number(f[2])}
	theirs = Result{Outcome(f[1]), f[6], number(f[3])}
	return ours, theirs, err
}

// readSheet hands the records of a file to add; a missing one has none.
func readSheet(path string, header []string, add func(record []string) error) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], header) {
		return fmt.Errorf("%s:1: the columns are not those of this version: remove the file to begin anew", path)
	}
	for i, record := range records[1:] {
		if err := add(record); err != nil {
			return fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
	}
	return nil
}

// writeSheet writes a file whole: the rows of these points, in their order.
func writeSheet[P interface{ Key() string }, R compared](path string, header []string, points []P, rows map[string]R) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(header)
	for _, p := range points {
		if row, ok := rows[p.Key()]; ok {
			w.Write(row.record())
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return files.Replace(path, b.Bytes())
}

// remarkable are rows to look at.
type remarkable[R compared] struct {
	Differ, Slow []R // outcomes; cycles by more than is tolerated
	Unread       []R // fit on both sides, but a schedule could not be read
}

// add takes a row in; equal reports whether the outcomes are.
func (m *remarkable[R]) add(r R, tolerance float64) (equal bool) {
	ours, theirs := r.sides()
	if equal = ours.Outcome == theirs.Outcome; !equal {
		m.Differ = append(m.Differ, r)
	}
	switch x := ratio(ours, theirs); {
	case x > tolerance:
		m.Slow = append(m.Slow, r)
	case x == 0 && ours.Outcome == Fits && theirs.Outcome == Fits:
		m.Unread = append(m.Unread, r)
	}
	return equal
}

// print lists them; other is the name of the other side.
func (m *remarkable[R]) print(w io.Writer, other string) {
	list := func(title string, rows []R) {
		if len(rows) > 0 {
			fmt.Fprintf(w, "%s:\n", title)
		}
		for _, r := range rows {
			ours, theirs := r.sides()
			fmt.Fprintf(w, "  %s: %s %q, %s %s %q, ratio %.4f\n", r.Key(), ours.Outcome, ours.Reason, other, theirs.Outcome, theirs.Reason, ratio(ours, theirs))
		}
	}
	list("outcomes differ", m.Differ)
	list("more cycles", m.Slow)
	list("schedules not read", m.Unread)
}
