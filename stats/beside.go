package stats

import (
	"cmp"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
)

// A Cost is what a product takes, held against another of the same size that the
// same kernel computed in the same rounds.
type Cost struct {
	Base, Point *Summary // Base is nil if that kernel has none
	Times       Estimate // how many times as long Point takes as Base, paired by round
}

// A sizeID is a size on one machine, with a number of threads, in one file.
type sizeID struct {
	groupID
	threads int
	beside  string
}

func sizeOf(s *Summary) sizeID {
	id := sizeID{groupID{s.id.file, s.id.GroupKey}, s.Threads, s.Beside}
	id.DtypeA, id.DtypeB, id.DtypeAcc, id.DtypeOut, id.Precision, id.Quant, id.Activation, id.Options = "", "", "", "", "", "", "", ""
	return id
}

// Costs compares what took turns with a product in the same rounds with that
// product: each point with the fastest of its kernel there. summaries are usually
// those Best chose; those that took turns within their own problem are left out.
func Costs(summaries []Summary) []Cost {
	bases := map[sizeID][]*Summary{}
	for i := range summaries {
		if s := &summaries[i]; s.Beside != "" && s.Product() == s.Beside {
			bases[sizeOf(s)] = append(bases[sizeOf(s)], s)
		}
	}
	var list []Cost
	for i := range summaries {
		s := &summaries[i]
		if s.Beside == "" || s.Product() == s.Beside || s.Interpreted() {
			continue
		}
		c := Cost{Point: s}
		for _, base := range bases[sizeOf(s)] {
			same := base.Kernel == s.Kernel && base.Backend == s.Backend && base.PluginVersion == s.PluginVersion
			if same && (c.Base == nil || base.usable() && (!c.Base.usable() || base.Time.Median < c.Base.Time.Median)) {
				c.Base = base
			}
		}
		if c.Base != nil && c.Base.usable() && s.usable() {
			c.Times = pairedRatio(c.Base.timing.rounds, s.timing.rounds)
		}
		list = append(list, c)
	}
	return list
}

// costSections has a table for each product that others are compared with.
func costSections(summaries []Summary) []Section {
	title := func(c Cost) string {
		s := c.Point
		return words.Joined(" · ", "beside "+s.Beside, cmp.Or(s.Chip, s.Device), words.Between("caches ", s.Cache, ""), s.Host, string(s.Mode), words.Counted(s.Threads, "thread", 1))
	}
	var list []Section
	for title, costs := range grouped(Costs(summaries), title) {
		slices.SortStableFunc(costs, func(a, b Cost) int {
			return cmp.Or(ladderOrder(a.Point, b.Point), strings.Compare(a.Point.Product(), b.Point.Product()))
		})
		points := each.Of(costs, func(c Cost) Summary { return *c.Point })
		section := Section{Title: title, Rows: make([][]string, len(points))}
		product := ladderColumn{name: "product", cell: func(s *Summary) string { return s.Product() }}
		section.add(points, kernelColumn, variantColumn, product, sizeColumn)
		section.add(points, underColumns(points)...)
		section.Header = append(section.Header, "beside", "median", "times as long", "interval")
		for i, c := range costs {
			section.Rows[i] = append(section.Rows[i], c.cells()...)
		}
		list = append(list, section)
	}
	return list
}

// cells are the figures of one line.
func (c Cost) cells() []string {
	row := []string{"", c.Point.took(), "", ""}
	if c.Base != nil {
		row[0] = c.Base.took()
	}
	if e := c.Times; e.Known() {
		if row[2], row[3] = e.cells(3); c.Point.Mode != results.Measured {
			row[3] = ""
		}
	}
	return row
}
