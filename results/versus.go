package results

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ComparisonFormats are the names WriteComparisons knows.
var ComparisonFormats = []string{"text", "md", "csv"}

// WriteComparisons writes a line for each comparison, and the geometric mean of
// the ratios of each section: text and md for people, a section for each dtype,
// machine and mode; csv at full precision.
func WriteComparisons(w io.Writer, format string, list []Comparison) error {
	var buf bytes.Buffer
	switch format {
	case "text":
		versus(list).text(&buf)
	case "md":
		versus(list).markdown(&buf)
	case "csv":
		writeComparisonCSV(&buf, list)
	default:
		return fmt.Errorf("unknown table format %q, known are %s", format, strings.Join(ComparisonFormats, ", "))
	}
	_, err := w.Write(buf.Bytes())
	return err
}

func versus(list []Comparison) Ladder {
	var titles []string
	sections := map[string][]Comparison{}
	for _, c := range list {
		title := sectionTitle(c.New)
		if sections[title] == nil {
			titles = append(titles, title)
		}
		sections[title] = append(sections[title], c)
	}
	var l Ladder
	for _, title := range titles {
		group := sections[title]
		slices.SortStableFunc(group, func(a, b Comparison) int { return ladderOrder(a.New, b.New) })
		var rows []Summary
		for _, c := range group {
			rows = append(rows, *c.New)
		}
		section := Section{Title: title, Rows: make([][]string, len(rows))}
		section.add(rows, ladderColumn{name: "kernel", cell: kernelName})
		section.add(rows, ladderColumn{name: "variant", cell: func(s *Summary) string { return s.Variant }})
		section.add(rows, ladderColumn{name: "blocks", cell: func(s *Summary) string { return s.Blocks() }})
		section.add(rows, ladderColumn{name: "params", cell: func(s *Summary) string { return s.Params }})
		section.add(rows, ladderColumn{name: "size", cell: func(s *Summary) string { return s.Size() }})
		for i := range group {
			section.Rows[i] = append(section.Rows[i], group[i].cells()...)
		}
		section.Header = append(section.Header, "old", "new", "new/old rate", "95 % interval", "verdict")
		l.Sections = append(l.Sections, section)
		if mean, n := GeoMean(group); n > 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("%s: geometric mean of %d %s %s", title, n, plural("ratio", n), FormatFigure(mean)))
		}
	}
	for _, c := range list {
		if c.Old.usable() && c.New.usable() && !c.Ratio.Sure() {
			l.Notes = append(l.Notes, "n: samples on the smaller side, too few for an interval of 95 %; measure with more rounds")
			break
		}
	}
	return l
}

// cells are the figures of one line.
func (c *Comparison) cells() []string {
	ratio, interval := "", ""
	if c.Ratio.Known() {
		ratio = FormatFigure(c.Ratio.Median)
		switch {
		case !c.Ratio.Sure():
			interval = fmt.Sprintf("n=%d", c.Ratio.N)
		case c.New.Mode == Measured:
			interval = FormatFigure(c.Ratio.Lo) + " to " + FormatFigure(c.Ratio.Hi)
		}
	}
	return []string{c.Old.took(), c.New.took(), ratio, interval, string(c.Verdict)}
}

func writeComparisonCSV(w *bytes.Buffer, list []Comparison) {
	out := csv.NewWriter(w)
	out.Write([]string{"verdict", "kernel", "variant", "mode", "dtypes", "batch", "m", "k", "n", "bm", "bk", "bn", "params",
		"old_status", "new_status", "old_seconds", "new_seconds", "ratio", "ratio_lo", "ratio_hi", "confidence", "differences"})
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, c := range list {
		s := c.New
		out.Write([]string{string(c.Verdict), clean(s.Kernel), clean(s.Variant), string(s.Mode), clean(s.Dtypes()),
			fmt.Sprint(s.Batch), fmt.Sprint(s.M), fmt.Sprint(s.K), fmt.Sprint(s.N), positive(s.BM), positive(s.BK), positive(s.BN), clean(s.Params),
			string(c.Old.Status), string(s.Status), number(c.Old.Time.Median), number(s.Time.Median),
			number(c.Ratio.Median), number(c.Ratio.Lo), number(c.Ratio.Hi), number(c.Ratio.Confidence), strings.Join(c.Differences, "; ")})
	}
	out.Flush()
}

// CompareVerdicts orders comparisons by concern: what was lost, what is slower,
// the slowest first.
func CompareVerdicts(a, b Comparison) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Verdicts, a.Verdict), slices.Index(Verdicts, b.Verdict)),
		cmp.Compare(a.Ratio.Median, b.Ratio.Median),
	)
}
