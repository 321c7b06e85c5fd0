package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Tolerance is how many more cycles than Pallas a step may take: what two
// schedules of the same work differ in by chance.
const Tolerance = 1.01

// Summary counts a table.
type Summary struct {
	Points, Rows int
	Compared     int
	Equal        int // outcomes, of those compared
	NotCompared  map[Outcome]int
	WithCycles   int
	remarkable[Row]
	Worst  []Row              // of each kernel, the largest ratio first
	Median map[string]float64 // of the ratios of each kernel
}

// Summarize counts the rows of a table that are of the matrix.
func Summarize(t Table) Summary {
	s := Summary{NotCompared: map[Outcome]int{}, Median: map[string]float64{}}
	ratios := map[string][]float64{}
	worst := map[string]Row{}
	for _, p := range Matrix() {
		s.Points++
		r, ok := t[p.Key()]
		if !ok {
			continue
		}
		s.Rows++
		if !r.Compared() {
			verdict := r.Pallas.Outcome
			if r.Ours.Outcome == Timeout {
				verdict = Timeout
			}
			s.NotCompared[verdict]++
			continue
		}
		s.Compared++
		if s.add(r, Tolerance) {
			s.Equal++
		}
		if ratio := r.Ratio(); ratio > 0 {
			s.WithCycles++
			ratios[r.Kernel.Name()] = append(ratios[r.Kernel.Name()], ratio)
			if w := worst[r.Kernel.Name()]; ratio > w.Ratio() {
				worst[r.Kernel.Name()] = r
			}
		}
	}
	for _, r := range worst {
		s.Worst = append(s.Worst, r)
	}
	for kernel, all := range ratios {
		slices.Sort(all)
		s.Median[kernel] = all[len(all)/2]
	}
	slices.SortFunc(s.Worst, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Ratio(), a.Ratio()), cmp.Compare(a.Kernel.Number(), b.Kernel.Number()))
	})
	return s
}

// Print writes a summary as text.
func (s Summary) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d of %d points in the table\n", s.Rows, s.Points)
	fmt.Fprintf(w, "%d compared, %d with equal outcomes; not compared: %d beyond the chip's memory, %d past the time limit\n",
		s.Compared, s.Equal, s.NotCompared[NotRun], s.NotCompared[Timeout])
	fmt.Fprintf(w, "%d with cycles on both sides, %d of them above %.2f\n", s.WithCycles, len(s.Slow), Tolerance)
	for _, r := range s.Worst {
		fmt.Fprintf(w, "median ratio %.4f, largest %.4f: %s\n", s.Median[r.Kernel.Name()], r.Ratio(), r.Key())
	}
	s.print(w, "Pallas")
	return nil
}
