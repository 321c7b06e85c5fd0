package stats

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"matladder/internal/words"
	"matladder/results"
)

// A Contest is one size of a group of rows that ran under the same conditions:
// our kernels against everybody else's.
type Contest struct {
	Best   *Summary // the fastest of our kernels; nil if none was measured
	Rival  *Summary // the fastest of the others, the baseline among them; nil if none
	Ratio  Estimate // speed of Best over that of Rival, paired by round
	Points []*Summary
}

// Contests pairs our kernels with the others of the same problem, machine and
// threads, in the order of the ladder. summaries are usually those Best chose.
func Contests(summaries []Summary) []Contest {
	type id struct {
		groupID
		threads int
	}
	var order []id
	points := map[id][]*Summary{}
	for i := range summaries {
		s := &summaries[i]
		if s.Interpreted() {
			continue
		}
		key := id{groupID{s.id.file, s.id.GroupKey}, s.Threads}
		if points[key] == nil {
			order = append(order, key)
		}
		points[key] = append(points[key], s)
	}
	var list []Contest
	for _, key := range order {
		list = append(list, newContest(points[key]))
	}
	return list
}

func newContest(points []*Summary) Contest {
	c := Contest{Points: points}
	faster := func(s, than *Summary) bool {
		return s.usable() && (than == nil || s.Time.Median < than.Time.Median)
	}
	for _, s := range points {
		if theirs := s.Peer() || s.Kernel == results.Baseline; theirs && faster(s, c.Rival) {
			c.Rival = s
		} else if !theirs && faster(s, c.Best) {
			c.Best = s
		}
	}
	if c.Best != nil && c.Rival != nil {
		c.Ratio = pairedRatio(c.Best.timing.rounds, c.Rival.timing.rounds)
	}
	return c
}

// WriteContests writes contests as text or md: a section for each machine, dtype
// and number of threads, in it a line for each size with the rate of everybody,
// and below it the geometric mean of the ratios and the smallest.
func WriteContests(w io.Writer, format string, summaries []Summary) error {
	var titles []string
	sections := map[string][]Contest{}
	for _, c := range Contests(summaries) {
		s := c.Points[0]
		title := sectionTitle(s) + fmt.Sprintf(" · %d threads", s.Threads)
		title = strings.TrimSuffix(title, " · 0 threads")
		if s.Threads == 1 {
			title = strings.TrimSuffix(title, "s")
		}
		if sections[title] == nil {
			titles = append(titles, title)
		}
		sections[title] = append(sections[title], c)
	}
	var l Ladder
	for _, title := range titles {
		l.Sections = append(l.Sections, contestSection(title, sections[title]))
		if note := overall(sections[title]); note != "" {
			l.Notes = append(l.Notes, title+": "+note)
		}
	}
	var buf bytes.Buffer
	switch format {
	case "text":
		l.text(&buf)
	case "md":
		l.markdown(&buf)
	default:
		return fmt.Errorf("unknown format %q of a comparison with peers, known are text, md", format)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// contender is the name of the column that a point stands in.
func contender(s *Summary) string {
	if s.Peer() {
		return s.PeerName()
	}
	return s.Kernel
}

func contestSection(title string, list []Contest) Section {
	slices.SortStableFunc(list, func(a, b Contest) int {
		return ladderOrder(a.Points[0], b.Points[0])
	})
	var shown []*Summary // one for each column
	most := 0.0
	for _, c := range list {
		for _, s := range c.Points {
			most = max(most, s.Rate.Median)
			if s.Status != results.Unsupported && !slices.ContainsFunc(shown, func(o *Summary) bool { return contender(o) == contender(s) }) {
				shown = append(shown, s)
			}
		}
	}
	slices.SortStableFunc(shown, func(a, b *Summary) int {
		return cmp.Or(CompareKernels(a.Kernel, b.Kernel), strings.Compare(contender(a), contender(b)))
	})
	shown = append(slices.DeleteFunc(slices.Clone(shown), func(s *Summary) bool { return s.Kernel == results.Baseline }),
		slices.DeleteFunc(shown, func(s *Summary) bool { return s.Kernel != results.Baseline })...)
	unit, divisor := results.RateUnit(most, list[0].Points[0].RateOf())
	section := Section{Title: title + " · " + unit, Header: []string{"size"}}
	for _, s := range shown {
		section.Header = append(section.Header, contender(s))
	}
	section.Header = append(section.Header, "kernel", "best peer", "÷ best peer", "interval")
	for _, c := range list {
		row := []string{c.Points[0].Size()}
		for _, s := range shown {
			row = append(row, c.cell(contender(s), divisor))
		}
		section.Rows = append(section.Rows, append(row, c.verdict()...))
	}
	return section
}

// cell is the rate of a column's point, or why there is none.
func (c Contest) cell(name string, divisor float64) string {
	for _, s := range c.Points {
		switch {
		case contender(s) != name:
		case s.usable():
			return words.Figure(s.Rate.Median / divisor)
		default:
			return s.took()
		}
	}
	return ""
}

// verdict has the last cells of a line.
func (c Contest) verdict() []string {
	row := make([]string, 4)
	if c.Best != nil {
		row[0] = strings.TrimSpace(c.Best.Kernel + " " + c.Best.Blocks())
	}
	if c.Rival != nil {
		row[1] = contender(c.Rival)
	}
	if c.Ratio.Known() {
		row[2] = fmt.Sprintf("%.2f", c.Ratio.Median)
		row[3] = fmt.Sprintf("%.2f – %.2f", c.Ratio.Lo, c.Ratio.Hi)
		if !c.Ratio.Sure() {
			row[3] += fmt.Sprintf(" (n=%d)", c.Ratio.N)
		}
	}
	return row
}

// overall is the geometric mean of the ratios, and the smallest.
func overall(list []Contest) string {
	sum, n := 0.0, 0
	least := Contest{Ratio: Estimate{Median: math.Inf(1)}}
	for _, c := range list {
		if !c.Ratio.Known() {
			continue
		}
		sum += math.Log(c.Ratio.Median)
		n++
		if c.Ratio.Median < least.Ratio.Median {
			least = c
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f of the best peer in the geometric mean of %s, least %.2f at %s",
		math.Exp(sum/float64(n)), sizes(n), least.Ratio.Median, least.Points[0].Size())
}

func sizes(n int) string {
	if n == 1 {
		return "1 size"
	}
	return fmt.Sprintf("%d sizes", n)
}
