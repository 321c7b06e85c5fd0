package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// FamilyTolerance is how many more cycles than the library's a step may take.
const FamilyTolerance = 1.02

// FamilyRow compares one point.
type FamilyRow struct {
	FamilyPoint
	Ours, Theirs Result
}

func (r FamilyRow) sides() (ours, theirs Result) { return r.Ours, r.Theirs }

// Ratio is of our cycles of a step to the library's; 0 if one is unknown.
func (r FamilyRow) Ratio() float64 { return ratio(r.Ours, r.Theirs) }

// Families is a table by key.
type Families map[string]FamilyRow

var familyHeader = []string{
	"libtpu", "topology", "library", "kernel", "dtype", "size", "blocks", "outcome_ours", "outcome_library",
	"cycles_ours", "cycles_library", "ratio", "reason_ours", "reason_library",
}

func (r FamilyRow) record() []string {
	return append([]string{versions[0], r.Topology, r.Library, r.kernel(), r.words(), r.size(), r.Blocks.String()}, cells(r.Ours, r.Theirs)...)
}

// ReadFamilies reads a table; a missing one is empty. Rows of points that are no
// longer compared are left out.
func ReadFamilies(path string) (Families, error) {
	points := map[string]FamilyPoint{}
	for _, p := range FamilyMatrix() {
		points[p.Key()] = p
	}
	rows := Families{}
	err := readSheet(path, familyHeader, func(f []string) error {
		ours, theirs, err := parseCells(f[7:])
		if p, known := points[fmt.Sprintf("%s %s %s %s %s", f[1], f[2], f[4], f[5], f[6])]; known && err == nil {
			rows[p.Key()] = FamilyRow{p, ours, theirs}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Write writes a table whole, in the order of FamilyMatrix.
func (t Families) Write(path string) error { return writeSheet(path, familyHeader, FamilyMatrix(), t) }

// FamilySummary counts a table.
type FamilySummary struct {
	Points, Rows, Equal int
	remarkable[FamilyRow]
	Ratios map[string][]FamilyRow
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
		if s.add(r, FamilyTolerance) {
			s.Equal++
		}
		if r.Ratio() > 0 {
			s.Ratios[r.Library] = append(s.Ratios[r.Library], r)
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
	for _, library := range libraries {
		if rows := s.Ratios[library.name]; len(rows) > 0 {
			last := rows[len(rows)-1]
			fmt.Fprintf(w, "%s: %d with cycles on both sides, median ratio %.4f, largest %.4f: %s\n", library.name, len(rows), rows[len(rows)/2].Ratio(), last.Ratio(), last.Key())
		}
	}
	s.print(w, "library")
	return nil
}
