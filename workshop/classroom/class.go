package classroom

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
	"matladder/workshop"
)

// A Class is what all of a room handed in, by name.
type Class []*HandIn

// Add adds a hand-in; of two under one name the later with a different content would
// hide the earlier, so that is an error.
func (c *Class) Add(h *HandIn) error {
	if slices.ContainsFunc(*c, func(o *HandIn) bool { return o.Name == h.Name }) {
		return fmt.Errorf("two hand-ins of %q: leave one out, or have one of them handed in under another name", h.Name)
	}
	*c = append(*c, h)
	slices.SortFunc(*c, func(a, b *HandIn) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// Summaries are the points of all, each file of a person for itself.
func (c Class) Summaries() []stats.Summary {
	var all []stats.Summary
	for _, h := range c {
		for i, rows := range h.Rows {
			for j := range rows {
				rows[j].Pos.File = fmt.Sprintf("%s:%03d", h.Name, i)
			}
			all = append(all, stats.Summarize(rows)...)
		}
	}
	return all
}

// usual are the products of which a class shows one, the first that was measured.
var usual = [][3]int{cube(1024), cube(2048), cube(512), cube(256)}

// Write prints a line for each person: exercises that are right, each by its last digit,
// and the rungs at their best in float32.
func (c Class) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "name\tmachine\texercises\tpredictions\tv1\tv2 over v1\tbest, % of peak\n")
	count := make([]int, len(workshop.All))
	for _, h := range c {
		right := []byte(strings.Repeat("-", len(workshop.All)))
		for _, v := range h.Verdicts {
			if v.Right {
				right[v.Exercise] = '0' + byte(v.Exercise%10)
				count[v.Exercise]++
			}
		}
		m := measured(Class{h}.Summaries())
		v1, v2, best := "", "", ""
		if s := m.find("v1_naive", "float32", usual...); s != nil {
			v1 = markOf(s) + words.Figure(s.Rate.Median/1e9) + " GFLOP/s"
		}
		if s := m.find("v2_parallel", "float32", usual...); s != nil && s.OverBelow.Known() {
			v2 = markOf(s) + words.Figure(s.OverBelow.Median) + "×"
		}
		var top *stats.Summary
		for _, name := range []string{"v1_naive", "v2_parallel", "v3_block", "v4_optblock", "v5_quant"} {
			if s := m.find(name, "float32", usual...); s != nil && s.PercentOfPeak.Known() && (top == nil || s.PercentOfPeak.Median > top.PercentOfPeak.Median) {
				top = s
			}
		}
		if top != nil {
			rung, _, _ := strings.Cut(top.Kernel, "_")
			best = markOf(top) + words.Figure(top.PercentOfPeak.Median) + " (" + rung + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", h.Name, h.Machine, right, len(h.Predictions), v1, v2, best)
	}
	solved := each.Upto(len(count), func(e int) string { return fmt.Sprintf("%d: %d", e, count[e]) })
	fmt.Fprintf(t, "\nright, of %d: %s\n", len(c), strings.Join(solved, " · "))
	return t.Flush()
}

// markOf returns the mark of a figure of low confidence, "" of others.
func markOf(s *stats.Summary) string {
	if s.LowConfidence || !s.Rate.Holds() {
		return stats.Noisy
	}
	return ""
}

// WritePredictions prints what the room said of a lesson, a line each.
func (c Class) WritePredictions(w io.Writer) error {
	for lesson := range workshop.All {
		var lines []string
		for _, h := range c {
			for _, p := range h.Predictions {
				if p.Lesson == lesson {
					lines = append(lines, fmt.Sprintf("  %s: %s\n", h.Name, p.Text))
				}
			}
		}
		if len(lines) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "lesson %d\n%s", lesson, strings.Join(lines, "")); err != nil {
			return err
		}
	}
	return nil
}

// Pictures are the ladder by machine of each dtype that was measured.
func (c Class) Pictures() ([]figure.Picture, error) {
	all := c.Summaries()
	var list []figure.Picture
	var dtypes []string
	for i := range all {
		if s := &all[i]; s.Mode == results.Measured && s.Status == results.OK {
			dtypes = each.With(dtypes, s.DtypeA)
		}
	}
	for _, dtype := range dtypes {
		made, err := plots.Pictures(all, plots.Request{Kind: plots.Ladder, Dtype: dtype})
		if err != nil {
			return nil, err
		}
		list = append(list, made...)
	}
	return list, nil
}
