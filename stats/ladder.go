package stats

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
)

// A Ladder is the table people read: one section for each machine, dtype and way of measuring, in
// it one line for each size and kernel. All lines of a section share one unit.
type Ladder struct {
	Sections []Section
	Notes    []string // warnings of all lines, equal ones once
}

// A Section is a titled table. A column without a cell is left out, and what
// all kernels ran with alike (backend, isa, threads) stands in the title.
type Section struct {
	Title  string
	Header []string
	Rows   [][]string
}

// NewLadder lays the summaries out, usually those Best chose. The baseline stands last at each
// size. Products that took turns in the same rounds are compared in sections at the end. more are
// names of TableColumns, which stand behind the median and its interval.
func NewLadder(summaries []Summary, more ...string) Ladder {
	var l Ladder
	for title, list := range grouped(summaries, func(s Summary) string { return sectionTitle(&s) }) {
		slices.SortStableFunc(list, func(a, b Summary) int { return ladderOrder(&a, &b) })
		l.Sections = append(l.Sections, newSection(title, list, more))
	}
	l.Sections = append(l.Sections, costSections(summaries)...)
	said := []string{disturbance(summaries), fewSamples(summaries), wideIntervals(summaries), unfinished(summaries), energyRemark(summaries, more)}
	l.Notes = append(each.That(said, func(text string) bool { return text != "" }), notes(summaries)...)
	return l
}

// grouped are the members of a list that have one key, keys in the order in which they come first.
func grouped[K comparable, T any](list []T, key func(T) K) iter.Seq2[K, []T] {
	order, groups := each.Grouped(list, func(v *T) K { return key(*v) })
	return func(yield func(K, []T) bool) {
		for _, k := range order {
			if !yield(k, groups[k]) {
				return
			}
		}
	}
}

// sectionTitle names what a kernel and its baseline have in common.
func sectionTitle(s *Summary) string {
	parts := []string{s.Dtypes(), s.Quant, s.Activation, s.Options, cmp.Or(s.Chip, s.Device)}
	if s.Precision != "" && s.Precision != "default" {
		parts = slices.Insert(parts, 1, "precision "+s.Precision)
	}
	parts = slices.Insert(parts, 0, s.FamilyWord())
	return words.Joined(" · ", append(parts, words.Counted(s.Devices, "device", 2), words.Between("", s.Cache, " caches"), s.Host, string(s.Mode))...)
}

func ladderOrder(a, b *Summary) int {
	kernels := 0
	switch {
	case a.Kernel == b.Kernel:
	case b.Kernel == results.Baseline, a.Kernel != results.Baseline && CompareKernels(a.Kernel, b.Kernel) < 0:
		kernels = -1
	default:
		kernels = 1
	}
	return cmp.Or(
		results.CompareWork(&a.Record, &b.Record),
		cmp.Compare(a.Size(), b.Size()),
		kernels,
		cmp.Compare(a.PluginVersion, b.PluginVersion),
		cmp.Compare(a.Variant, b.Variant),
		results.CompareInputs(a.Dist, b.Dist),
		cmp.Compare(a.Duty, b.Duty),
	)
}

// A ladderColumn makes one column of a section.
type ladderColumn struct {
	name string
	cell func(s *Summary) string
	unit string // of a condition, in a title: "2 threads"
}

// Columns of several tables.
var (
	kernelColumn  = ladderColumn{name: "kernel", cell: kernelName}
	variantColumn = ladderColumn{name: "variant", cell: func(s *Summary) string { return s.Variant }}
	blocksColumn  = ladderColumn{name: "blocks", cell: func(s *Summary) string { return s.Blocks() }}
	paramsColumn  = ladderColumn{name: "params", cell: func(s *Summary) string { return s.Params }}
	sizeColumn    = ladderColumn{name: "size", cell: func(s *Summary) string { return s.Size() }}
)

// underColumns are columns where the inputs of points differ, and the load.
func underColumns(list []Summary) []ladderColumn {
	return each.That(conditions[len(conditions)-2:], func(c ladderColumn) bool {
		return slices.ContainsFunc(list, func(s Summary) bool { return c.cell(&s) != c.cell(&list[0]) })
	})
}

// conditions are what a point ran with. They make a column only where the
// kernels differ; the baseline and peers, which have their own, do not count.
var conditions = []ladderColumn{
	{name: "backend", cell: func(s *Summary) string { return s.Backend }},
	{name: "isa", cell: func(s *Summary) string { return s.ISA }},
	{name: "threads", cell: func(s *Summary) string { return positive(s.Threads) }, unit: " threads"},
	{name: "pin", cell: func(s *Summary) string { return words.Between("pinned to ", s.Pin, "") }},
	{name: "fault", cell: func(s *Summary) string { return words.Between("fault ", s.Fault, "") }},
	{name: "operands", cell: func(s *Summary) string { return s.Operands }},
	{name: "inputs", cell: func(s *Summary) string { return s.Dist }, unit: " inputs"},
	{name: "load", cell: func(s *Summary) string { return s.LoadWord() }},
}

func newSection(title string, list []Summary, more []string) Section {
	most := each.Most(list, func(x Summary) float64 { return x.Rate.Median })
	section := Section{Title: title, Rows: make([][]string, len(list))}
	section.add(list, kernelColumn, variantColumn)
	for _, c := range conditions {
		values := map[string]bool{}
		shared := ""
		for i := range list {
			if list[i].Kernel != results.Baseline && !list[i].Peer() {
				shared = c.cell(&list[i])
				values[shared] = true
			}
		}
		switch {
		case len(values) != 1:
			section.add(list, c)
		case shared != "":
			section.Title += " · " + shared + c.unit
			if shared == "1" {
				section.Title = strings.TrimSuffix(section.Title, "s")
			}
		}
	}
	unit, divisor := results.RateUnit(most, list[0].RateOf())
	for _, c := range figures(unit, divisor, list[0].RoofName()) {
		section.add(list, c)
		if c.name == "±" {
			for _, name := range more {
				section.add(list, extraColumns[slices.Index(TableColumns, name)])
			}
		}
	}
	return section
}

// add appends columns, but those that are empty.
func (section *Section) add(list []Summary, columns ...ladderColumn) {
	for _, c := range columns {
		cells := each.Of(each.Pointers(list), c.cell)
		if !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" }) {
			continue
		}
		section.Header = append(section.Header, c.name)
		for i, cell := range cells {
			section.Rows[i] = append(section.Rows[i], cell)
		}
	}
}

// figures are the columns that tell points and their results apart.
func figures(unit string, divisor float64, roof string) []ladderColumn {
	figure := func(e Estimate, factor float64, suffix string) string {
		if !e.Known() {
			return ""
		}
		return markOf(e) + words.Figure(e.Median*factor) + suffix
	}
	return []ladderColumn{
		blocksColumn, paramsColumn, sizeColumn,
		{name: "median", cell: func(s *Summary) string { return s.secondsCell(s.Time.Median, s.Time.Known()) }},
		{name: "±", cell: (*Summary).SpreadCell},
		{name: unit, cell: func(s *Summary) string { return figure(s.Rate, 1/divisor, "") }},
		{name: "burst", cell: func(s *Summary) string { return figure(s.Burst, 1/divisor, "") }},
		{name: "% of burst", cell: func(s *Summary) string {
			if !s.Burst.Known() {
				return ""
			}
			return figure(s.Rate, 100/s.Burst.Median, "")
		}},
		{name: "% of " + roof, cell: func(s *Summary) string { return figure(s.PercentOfPeak, 1, "") }},
		{name: "% of " + results.Baseline, cell: func(s *Summary) string { return figure(s.PercentOfBaseline, 1, "") }},
		{name: "over", cell: func(s *Summary) string {
			rung, _, _ := strings.Cut(s.Below, "_")
			return figure(s.OverBelow, 1, "× "+rung)
		}},
		{name: "memory", cell: func(s *Summary) string { return FormatMemory(s.MemoryBytes) }},
		{name: "err/bound", cell: func(s *Summary) string { return formatError(s.ErrOverBound) }},
		{name: "rel_err", cell: func(s *Summary) string { return formatError(s.RelErr) }},
		{name: "status", cell: func(s *Summary) string { return string(s.Status) }},
		{name: "reason", cell: func(s *Summary) string { return firstLine(s.Reason) }},
	}
}

// markOf returns the mark of a figure of low confidence, "" of others.
func markOf(e Estimate) string { return words.When(!e.Holds(), Noisy) }

// kernelName says where the baseline ran, as its line lacks the conditions, and
// which version a peer is.
func kernelName(s *Summary) string {
	if s.Peer() {
		return strings.TrimSpace(s.Kernel + " " + s.PeerVersion())
	}
	if s.Kernel == results.Baseline && s.Backend != "" && s.Backend != results.Baseline {
		return s.Kernel + " (" + s.Backend + ")"
	}
	return s.Kernel
}

// SpreadCell says how far the interval of the time reaches, in percent, or how few samples there
// are; "" of what was predicted.
func (s *Summary) SpreadCell() string {
	switch {
	case !s.Time.Known() || s.Mode == results.Predicted:
		return ""
	case !s.Time.Sure():
		return fmt.Sprintf("n=%d", s.Time.N)
	}
	return fmt.Sprintf("%.1f%%", 100*s.Time.Spread())
}

// notes lists each warning once, with the points that have it.
func notes(summaries []Summary) []string {
	type warned struct{ warning, point string }
	var all []warned
	for i := range summaries {
		s := &summaries[i]
		for _, w := range s.Warnings {
			name := strings.TrimSpace(s.Kernel+" "+s.Variant) + " " + s.Dtypes() + " " + s.Size() + words.Between(" ", s.Under(), "")
			if s.Mode == results.Predicted { // often for several chips
				name += words.Between(" on ", cmp.Or(s.Chip, s.Device), "")
			}
			all = append(all, warned{w, name})
		}
	}
	var list []string
	for warning, points := range grouped(all, func(w warned) string { return w.warning }) {
		names := each.Of(points, func(w warned) string { return w.point })
		list = append(list, warning+": "+words.First(names, 3, "; "))
	}
	return list
}

func positive(n int) string { return words.When(n != 0, "%d", n) }
