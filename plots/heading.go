package plots

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// sorted returns the summaries behind curves in the order of their rows.
func sorted(curves []*curve) []*stats.Summary {
	var list []*stats.Summary
	for _, c := range curves {
		list = slices.AppendSeq(list, maps.Values(c.at))
	}
	slices.SortFunc(list, compareRows)
	return list
}

// compareRows orders summaries as their rows stand in the files.
func compareRows(a, b *stats.Summary) int {
	return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Size(), b.Size()))
}

// headingOf says what a picture of summaries shows and, in its footer, on what, how and
// when it was measured: every facet that all rows share. Baseline settings that
// differ are listed separately. Peers are ignored unless they are all there is beside the
// baseline, since their names state their versions. best says that only each kernel's fastest
// blocks are shown, mark how the picture marks points of low confidence.
func headingOf(q Request, title string, summaries []*stats.Summary, best bool, mark string) figure.Heading {
	var rows, baseline, peers []*results.Record
	for _, s := range summaries {
		switch {
		case s.Kernel == results.Baseline:
			baseline = append(baseline, &s.Record)
		case s.Peer():
			peers = append(peers, &s.Record)
		default:
			rows = append(rows, &s.Record)
		}
	}
	if len(rows) == 0 {
		rows = peers
	}
	if len(rows) == 0 {
		rows, baseline = baseline, nil
	}
	title = words.Between("", strings.Join(shared(rows, "family"), ""), ": ") + title
	if dtypes := strings.Join(shared(rows, "dtypes"), ""); dtypes != "" {
		title += ", " + dtypes
	} else {
		title += words.Between(", ", q.Dtype, " operands")
	}
	mode, on := modes(summaries), ", on "
	if mode != string(results.Measured) {
		title += words.Between(", ", mode, "")
	}
	if mode == string(results.Predicted) {
		on = " for "
	}
	if device := shared(rows, "device"); device != nil {
		title += on + device[0]
	}

	footer := append([]string{mode}, shared(rows, "variant", "quant", "activation", "options", "precision", "backend", "plugin",
		"method", "isa", "threads", "devices", "mesh", "cache", "pin", "fault", "operands", "dist", "duty", "window", "host", "version")...)
	footer = []string{strings.Join(append(footer, days(rows)...), " · "), intervals(summaries)}
	var subtitle []string
	if best {
		subtitle = append(subtitle, "each kernel with its fastest block shape at each size")
	}
	names := []string{"backend", "plugin", "method", "isa", "threads", "device"}
	same := shared(rows, names...)
	other := slices.DeleteFunc(shared(baseline, names...), func(text string) bool { return slices.Contains(same, text) })
	if len(other) > 0 {
		footer[1] = strings.TrimPrefix(footer[1]+" · "+results.Baseline+": "+strings.Join(other, ", "), " · ")
	}
	footer = append(footer, sources(summaries), lowConfidence(summaries, mark))
	footer = slices.DeleteFunc(footer, func(line string) bool { return line == "" })
	return figure.Heading{Kind: string(q.Kind), Name: fileName(q), Title: title, Subtitle: subtitle, Footer: footer}
}

// sources names the files of a picture that is of several, and those whose sweep has not
// ended; "" if there are none.
func sources(summaries []*stats.Summary) string {
	file := func(s **stats.Summary) string { return filepath.Base((*s).Pos.File) }
	some := func(list []string) string { return words.First(list, 4, ", ") }
	all := distinct(summaries, file)
	several := words.When(len(all) > 1, "of %d files: %s", len(all), some(all))
	partial := distinct(each.That(summaries, func(s *stats.Summary) bool { return s.Partial }), file)
	return words.Joined(" · ", several, words.Between("partial, as its sweep has not ended: ", some(partial), ""))
}

// hollowWords say how charts mark points of low confidence.
const hollowWords = "hollow, "

// lowConfidence lists the points of low confidence after the words of their mark; "" if there
// are none.
func lowConfidence(summaries []*stats.Summary, mark string) string {
	var names []string
	disturbed, few := false, false
	for _, s := range summaries {
		if usable(s) && !s.Rate.Holds() {
			names = append(names, s.Kernel+" "+s.Size()+" "+stats.FormatSeconds(s.Time.Median))
			disturbed, few = disturbed || s.LowConfidence && s.Disturbed > 0, few || s.Few() && s.Disturbed == 0
		}
	}
	if len(names) == 0 {
		return ""
	}
	why := words.Joined(", or ", words.When(disturbed, "the machine was disturbed"), words.When(few, "fewer than 3 samples"))
	why = cmp.Or(why, "intervals above twofold")
	return mark + "not to be relied on, for " + why + ": " + words.First(names, 3, "; ")
}

// modes says whether the chart holds measured points, predicted ones or both.
func modes(summaries []*stats.Summary) string {
	return words.Join(each.That(results.Modes, func(mode results.Mode) bool {
		return slices.ContainsFunc(summaries, func(s *stats.Summary) bool { return s.Mode == mode })
	}), " and ")
}

// measured reports whether a summary has a rate that was measured.
func measured(s *stats.Summary) bool { return s.Mode == results.Measured && usable(s) }

// intervals says what the bands are.
func intervals(summaries []*stats.Summary) string {
	list := each.That(summaries, measured)
	switch sure := len(each.That(list, func(s *stats.Summary) bool { return s.Rate.Sure() })); {
	case len(list) == 0:
		return ""
	case sure == len(list):
		return "medians with 95 % intervals"
	case sure == 0:
		return "medians with the range of fewer than 6 samples"
	}
	return "medians with 95 % intervals, or the range where there are fewer than 6 samples"
}

// paired says of ratios how they were taken, if both sides were measured.
func paired(summaries []*stats.Summary) string {
	return words.When(slices.ContainsFunc(summaries, measured), ", paired by round")
}

// days returns the day, or days, on which rows were made.
func days(rows []*results.Record) []string {
	made := each.That(rows, func(r *results.Record) bool { return !r.StartedAt.IsZero() })
	dates := each.Of(made, func(r *results.Record) string { return r.StartedAt.Format(time.DateOnly) })
	slices.Sort(dates)
	if dates = slices.Compact(dates); len(dates) > 1 {
		return []string{dates[0] + " to " + dates[len(dates)-1]}
	}
	return dates
}
