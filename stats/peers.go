package stats

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"

	"gonum.org/v1/gonum/stat"
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
	own := slices.DeleteFunc(each.Pointers(summaries), func(s *Summary) bool { return s.Interpreted() })
	var list []Contest
	for _, points := range grouped(own, func(s *Summary) id { return id{groupID{s.id.file, s.id.GroupKey}, s.Threads} }) {
		list = append(list, newContest(points))
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
	var l Ladder
	for title, list := range grouped(Contests(summaries), func(c Contest) string {
		return words.Joined(" · ", sectionTitle(c.Points[0]), c.Points[0].Under(), words.Counted(c.Points[0].Threads, "thread", 1))
	}) {
		l.Sections = append(l.Sections, contestSection(title, list))
		if note := overall(list); note != "" {
			l.Notes = append(l.Notes, title+": "+note)
		}
	}
	if format != "text" && format != "md" {
		return fmt.Errorf("unknown format %q of a comparison with peers, known are text, md", format)
	}
	return l.write(w, format)
}

// contender is the name of the column that a point stands in.
func contender(s *Summary) string {
	if s.Peer() {
		return s.PeerName()
	}
	return s.Kernel
}

func contestSection(title string, list []Contest) Section {
	slices.SortStableFunc(list, func(a, b Contest) int { return ladderOrder(a.Points[0], b.Points[0]) })
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
	baseline := func(s *Summary) bool { return s.Kernel == results.Baseline }
	shown = append(slices.DeleteFunc(slices.Clone(shown), baseline), each.That(shown, baseline)...)
	unit, divisor := results.RateUnit(most, list[0].Points[0].RateOf())
	names := each.Of(shown, contender)
	section := Section{Title: title + " · " + unit, Header: slices.Concat([]string{"size"}, names, []string{"kernel", "best peer", "÷ best peer", "interval"})}
	for _, c := range list {
		rates := each.Of(names, func(name string) string { return c.cell(name, divisor) })
		section.Rows = append(section.Rows, slices.Concat([]string{c.Points[0].Size()}, rates, c.verdict()))
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
		row[2], row[3] = c.Ratio.cells(2)
	}
	return row
}

// overall is the geometric mean of the ratios, and the smallest.
func overall(list []Contest) string {
	list = each.That(list, func(c Contest) bool { return c.Ratio.Known() })
	if len(list) == 0 {
		return ""
	}
	ratio := func(c Contest) float64 { return c.Ratio.Median }
	least := slices.MinFunc(list, func(a, b Contest) int { return cmp.Compare(ratio(a), ratio(b)) })
	return fmt.Sprintf("%.2f of the best peer in the geometric mean of %s, least %.2f at %s",
		stat.GeometricMean(each.Of(list, ratio), nil), words.Count(len(list), "size"), ratio(least), least.Points[0].Size())
}
