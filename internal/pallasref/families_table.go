package main

import (
	"bytes"
	"cmp"
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

// FamilyTolerance is how many more cycles than the library's a step may take.
const FamilyTolerance = 1.02

// FamilyRow compares one point.
type FamilyRow struct {
	FamilyPoint
	Ours, Theirs Result
}

// Ratio is of our cycles of a step to the library's; 0 if one is unknown.
func (r FamilyRow) Ratio() float64 {
	if r.Ours.Cycles == 0 || r.Theirs.Cycles == 0 {
		return 0
	}
	return r.Ours.Cycles / r.Theirs.Cycles
}

// Families is a table by key.
type Families map[string]FamilyRow

var familyHeader = []string{
	"libtpu", "topology", "library", "kernel", "dtype", "size", "blocks", "outcome_ours", "outcome_library",
	"cycles_ours", "cycles_library", "ratio", "reason_ours", "reason_library",
}

func (r FamilyRow) record() []string {
	number := func(x float64, digits int) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', digits, 64)
	}
	return []string{
		versions[0], r.Topology, r.Library, r.kernel(), r.words(), r.size(), r.Blocks.String(), string(r.Ours.Outcome), string(r.Theirs.Outcome),
		number(r.Ours.Cycles, 2), number(r.Theirs.Cycles, 2), number(r.Ratio(), 4), r.Ours.Reason, r.Theirs.Reason,
	}
}

// ReadFamilies reads a table; one that is not there is empty. Rows of points that are no
// longer compared are left out.
func ReadFamilies(path string) (Families, error) {
	rows := Families{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return rows, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], familyHeader) {
		return nil, fmt.Errorf("%s:1: the columns are not those of this version: remove the file to begin anew", path)
	}
	points := map[string]FamilyPoint{}
	for _, p := range FamilyMatrix() {
		points[p.Key()] = p
	}
	for i, f := range records[1:] {
		p, known := points[fmt.Sprintf("%s %s %s %s %s", f[1], f[2], f[4], f[5], f[6])]
		if !known {
			continue
		}
		r := FamilyRow{p, Result{Outcome: Outcome(f[7]), Reason: f[12]}, Result{Outcome: Outcome(f[8]), Reason: f[13]}}
		for j, to := range []*float64{&r.Ours.Cycles, &r.Theirs.Cycles} {
			if f[9+j] == "" {
				continue
			}
			if *to, err = strconv.ParseFloat(f[9+j], 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
			}
		}
		rows[p.Key()] = r
	}
	return rows, nil
}

// Write writes a table whole, in the order of FamilyMatrix.
func (t Families) Write(path string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(familyHeader)
	for _, p := range FamilyMatrix() {
		if row, ok := t[p.Key()]; ok {
			w.Write(row.record())
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return files.Replace(path, b.Bytes())
}

// FamilySummary counts a table.
type FamilySummary struct {
	Points, Rows, Equal int
	Differ, Slow        []FamilyRow // outcomes; cycles by more than FamilyTolerance
	Unread              []FamilyRow // fit on both sides, but a schedule could not be read
	Ratios              map[string][]FamilyRow
}

// SummarizeFamilies counts the rows of a table.
func SummarizeFamilies(t Families) FamilySummary {
	s := FamilySummary{Ratios: map[string][]FamilyRow{}}
	for _, p := range FamilyMatrix() {
		s.Points++
		r, ok := t[p.Key()]
		if !ok {
			continue
		}
		s.Rows++
		if r.Ours.Outcome == r.Theirs.Outcome {
			s.Equal++
		} else {
			s.Differ = append(s.Differ, r)
		}
		switch ratio := r.Ratio(); {
		case ratio > 0:
			s.Ratios[r.Library] = append(s.Ratios[r.Library], r)
			if ratio > FamilyTolerance {
				s.Slow = append(s.Slow, r)
			}
		case r.Ours.Outcome == Fits && r.Theirs.Outcome == Fits:
			s.Unread = append(s.Unread, r)
		}
	}
	for _, rows := range s.Ratios {
		slices.SortStableFunc(rows, func(a, b FamilyRow) int { return cmp.Compare(a.Ratio(), b.Ratio()) })
	}
	return s
}

// Print writes a summary as text.
func (s FamilySummary) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d of %d points in the table, %d with equal outcomes\n", s.Rows, s.Points, s.Equal)
	for _, library := range []string{"flash", "splash", "gmm"} {
		if rows := s.Ratios[library]; len(rows) > 0 {
			last := rows[len(rows)-1]
			fmt.Fprintf(w, "%s: %d with cycles on both sides, median ratio %.4f, largest %.4f: %s\n", library, len(rows), rows[len(rows)/2].Ratio(), last.Ratio(), last.Key())
		}
	}
	list := func(title string, rows []FamilyRow) {
		if len(rows) > 0 {
			fmt.Fprintf(w, "%s:\n", title)
		}
		for _, r := range rows {
			fmt.Fprintf(w, "  %s: %s %q, library %s %q, ratio %.4f\n", r.Key(), r.Ours.Outcome, r.Ours.Reason, r.Theirs.Outcome, r.Theirs.Reason, r.Ratio())
		}
	}
	list("outcomes differ", s.Differ)
	list("more cycles", s.Slow)
	list("schedules not read", s.Unread)
	return nil
}
