package stats

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
)

// ComparisonFormats are the names WriteComparisons knows.
var ComparisonFormats = []string{"text", "md", "csv"}

// WriteComparisons writes a line for each comparison, and the geometric mean of
// the ratios of each section: text and md for people, a section for each dtype,
// machine and mode; csv at full precision.
func WriteComparisons(w io.Writer, format string, list []Comparison) error {
	switch format {
	case "text", "md":
		return Versus(list).write(w, format)
	case "csv":
		return writeComparisonCSV(w, list)
	}
	return fmt.Errorf("unknown table format %q, known are %s", format, strings.Join(ComparisonFormats, ", "))
}

// Versus lays comparisons out, or the changes of series.
func Versus(list []Comparison) Ladder {
	var l Ladder
	history := len(list) > 0 && list[0].Change != nil
	for title, group := range grouped(list, func(c Comparison) string { return sectionTitle(c.New) }) {
		slices.SortStableFunc(group, func(a, b Comparison) int { return ladderOrder(a.New, b.New) })
		rows := each.Of(group, func(c Comparison) Summary { return *c.New })
		section := Section{Title: title, Rows: make([][]string, len(rows))}
		section.add(rows, kernelColumn, variantColumn, blocksColumn, paramsColumn, sizeColumn)
		section.add(rows, underColumns(rows)...)
		for i := range group {
			section.Rows[i] = append(section.Rows[i], group[i].cells()...)
		}
		section.Header = append(section.Header, "old", "new", "new/old rate", "95 % interval", "runs", "n", "verdict")
		if history {
			section.Header = append(section.Header, "with the run of", "build", "trend in 10 runs")
		}
		section.dropEmpty("runs")
		section.dropEmpty("n")
		l.Sections = append(l.Sections, section)
		if mean, n := GeoMean(group); n > 0 && !history {
			l.Notes = append(l.Notes, fmt.Sprintf("%s: geometric mean of %s %s", title, words.Count(n, "ratio"), words.Figure(mean)))
		}
	}
	l.Notes = append(l.Notes, versusNotes(list)...)
	return l
}

// dropEmpty leaves out a column without a cell.
func (s *Section) dropEmpty(name string) {
	at := slices.Index(s.Header, name)
	if slices.ContainsFunc(s.Rows, func(row []string) bool { return row[at] != "" }) {
		return
	}
	s.Header = slices.Delete(s.Header, at, at+1)
	for i := range s.Rows {
		s.Rows[i] = slices.Delete(s.Rows[i], at, at+1)
	}
}

// versusNotes say what the figures are, and what more would tell.
func versusNotes(list []Comparison) []string {
	var notes []string
	single, few, left := false, false, 0
	for _, c := range list {
		single = single || c.Quantile > 0 && c.Runs == [2]int{1, 1}
		few = few || c.Change == nil && c.Old.usable() && c.New.usable() && !c.Ratio.Sure() && !c.LowConfidence
		if c.Change != nil {
			left += c.Change.LeftOut
		}
	}
	if few {
		notes = append(notes, "too few for an interval: fewer than 4 samples of a run a side, or fewer than 6 pairs of turns")
	}
	if single && !slices.ContainsFunc(list, func(c Comparison) bool { return c.Runs[0] > 1 || c.Runs[1] > 1 }) {
		notes = append(notes, "one run a side: what differs from run to run is assumed, 1 % of each; several files a side, or --ab, tell smaller changes")
	}
	notes = append(notes, disturbedNotes(list)...)
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%s of points left out, as fewer than %d samples were quiet; runs counts the others", words.Count(left, "run"), enoughQuiet))
	}
	return append(notes, remarkNotes(list)...)
}

// disturbedNotes say how many samples the machine disturbed, and what became of them.
func disturbedNotes(list []Comparison) (notes []string) {
	disturbed, all, lowConfidence, mixed := 0, 0, 0, 0
	for i := range list {
		c := &list[i]
		n := c.Disturbed[0] + c.Disturbed[1]
		disturbed += n
		all += c.Samples[0] + c.Samples[1]
		if c.Mixed {
			mixed++
		} else {
			all += n
		}
		if c.LowConfidence {
			lowConfidence++
		}
	}
	if disturbed > 0 {
		what := "left out, and n counts the others"
		if mixed > 0 {
			what = fmt.Sprintf("left out, but of %d of %d points, of which fewer than %d pairs of turns had quiet ones", mixed, len(list), fewestPairs)
		}
		notes = append(notes, fmt.Sprintf("the machine was disturbed in %d of %d samples: they are %s", disturbed, all, what))
	}
	if lowConfidence > 0 {
		notes = append(notes, fmt.Sprintf("%s marks noisy ratios, %d of %d, which have no verdict: fewer than %d samples of a side were quiet; measure again on a quieter machine, or use --ab",
			Noisy, lowConfidence, len(list), enoughQuiet))
	}
	return notes
}

// remarkNotes say what was not alike on both sides, each once with how many points it
// is true of, or that both are one build.
func remarkNotes(list []Comparison) []string {
	var said []string
	builds := [2]map[string]bool{{}, {}} // of old and new
	for _, c := range list {
		said = append(said, c.Remarks...)
		for side, list := range c.Builds {
			for _, b := range list {
				builds[side][b] = true
			}
		}
	}
	var notes []string
	for r, times := range grouped(said, func(r string) string { return r }) {
		what := r + " (all points)"
		if len(times) < len(list) {
			what = fmt.Sprintf("%s (%d of %d points)", r, len(times), len(list))
		}
		notes = append(notes, "not alike: "+what)
	}
	for i, of := range builds {
		if len(of) > 1 {
			notes = append(notes, fmt.Sprintf("%s is %d builds: %s", []string{"old", "new"}[i], len(of), strings.Join(slices.Sorted(maps.Keys(of)), ", ")))
		}
	}
	changed := slices.ContainsFunc(list, func(c Comparison) bool { // one build predicted two files
		return predicted(c.Old, c.New) && c.Old.PluginVersion != c.New.PluginVersion
	})
	if len(builds[0]) == 1 && maps.Equal(builds[0], builds[1]) && !changed {
		notes = append(notes, "both sides say that they are one build, "+slices.Collect(maps.Keys(builds[0]))[0]+": what differs is the machine, or changes that the build does not name")
	}
	return notes
}

// cells are the figures of one line.
func (c *Comparison) cells() []string {
	old, new, ratio, interval := c.Old.took(), c.New.took(), "", ""
	if c.OldSeconds > 0 && c.NewSeconds > 0 {
		old, new = FormatSeconds(c.OldSeconds), FormatSeconds(c.NewSeconds)
	}
	if c.Ratio.Known() {
		ratio = words.Figure(c.Ratio.Median)
		if c.LowConfidence {
			ratio = Noisy + ratio
		}
		if c.Ratio.Sure() && c.New.Mode == results.Measured {
			interval = words.Figure(c.Ratio.Lo) + " to " + words.Figure(c.Ratio.Hi)
		}
	}
	n := words.When(c.Samples[0]+c.Samples[1] > 0, "%d+%d", c.Samples[0], c.Samples[1])
	runs := words.When(c.Runs[0]+c.Runs[1] > 2, "%d+%d", c.Runs[0], c.Runs[1])
	cells := []string{old, new, ratio, interval, runs, n, string(c.Verdict)}
	if c.Change == nil {
		return cells
	}
	if c.Verdict == Steady || c.Verdict == Unsure && c.Change.First == nil {
		cells[0], cells[4] = "", fmt.Sprint(c.Runs[0])
		if c.Runs[0] == 0 {
			cells[1] = Noisy + cells[1]
		}
	}
	return append(cells, c.Change.cells(c.New)...)
}

// cells are the figures of a change: with which run it came, the build of that, and the trend.
func (c *Change) cells(new *Summary) []string {
	with, build, trend := "", "", ""
	if c.First != nil {
		with = started(new)
		build, _, _ = strings.Cut(new.MatladderVersion, " kernels ")
		if c.First != c.Last {
			with = started(c.First) + " to " + started(c.Last)
		}
	}
	if e := c.Trend; e.Known() {
		trend = fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*(e.Median-1), 100*(e.Lo-1), 100*(e.Hi-1))
	}
	return []string{with, build, trend}
}

// started names a run by when it started, or by its file.
func started(s *Summary) string {
	if s.StartedAt.IsZero() {
		return filepath.Base(s.Pos.File)
	}
	return s.StartedAt.Format("2006-01-02 15:04")
}

func writeComparisonCSV(w io.Writer, list []Comparison) error {
	out := csv.NewWriter(w)
	header := []string{"verdict", "kernel", "variant", "mode", "family", "dtypes", "shape", "batch", "m", "k", "n", "bm", "bk", "bn", "params", "inputs",
		"old_status", "new_status", "old_seconds", "new_seconds", "quantile", "ratio", "ratio_lo", "ratio_hi", "confidence", "false_rate",
		"old_runs", "new_runs", "old_samples", "new_samples", "old_disturbed", "new_disturbed", "differences", "remarks"}
	history := len(list) > 0 && list[0].Change != nil
	if history {
		header = append(header, "run_id", "file", "started", "first_started", "last_started", "build", "trend", "trend_lo", "trend_hi", "runs_left_out")
	}
	out.Write(header)
	number := func(v float64) string { return words.When(v != 0, "%g", v) }
	for _, c := range list {
		s := c.New
		row := []string{string(c.Verdict), spreadsheetSafe(s.Kernel), spreadsheetSafe(s.Variant), string(s.Mode), spreadsheetSafe(s.FamilyName()), spreadsheetSafe(s.Dtypes()),
			spreadsheetSafe(s.ShapeName()), positive(s.Batch), positive(s.M), positive(s.K), positive(s.N), positive(s.BM), positive(s.BK), positive(s.BN), spreadsheetSafe(s.Params), spreadsheetSafe(s.Dist),
			string(c.Old.Status), string(s.Status), number(c.OldSeconds), number(c.NewSeconds), number(c.Quantile),
			number(c.Ratio.Median), number(c.Ratio.Lo), number(c.Ratio.Hi), number(c.Ratio.Confidence), number(c.FalseRate),
			positive(c.Runs[0]), positive(c.Runs[1]), positive(c.Samples[0]), positive(c.Samples[1]), positive(c.Disturbed[0]), positive(c.Disturbed[1]),
			strings.Join(c.Differences, "; "), strings.Join(c.Remarks, "; ")}
		if history {
			brought := make([]string, 6)
			if h := c.Change; h.First != nil {
				brought = []string{spreadsheetSafe(s.RunID), spreadsheetSafe(s.Pos.File), s.StartedAt.Format(time.RFC3339Nano), h.First.StartedAt.Format(time.RFC3339Nano), h.Last.StartedAt.Format(time.RFC3339Nano), spreadsheetSafe(s.MatladderVersion)}
			}
			e := c.Change.Trend
			row = slices.Concat(row, brought, []string{number(e.Median), number(e.Lo), number(e.Hi), positive(c.Change.LeftOut)})
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// CompareVerdicts orders comparisons by concern: what was lost, what is slower, the slowest first.
func CompareVerdicts(a, b Comparison) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Verdicts, a.Verdict), slices.Index(Verdicts, b.Verdict)),
		cmp.Compare(a.Ratio.Median, b.Ratio.Median),
	)
}
