package plots

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// A curve is a Series in the making: summaries of one kernel that agree in
// every facet, and in what the kernel chose unless each size has one choice.
type curve struct {
	kernel string
	choice choice
	single bool                      // one choice at each size: it is not the curve's name
	at     map[string]*stats.Summary // by Record.Size
}

// A choice is what a kernel may choose for itself.
type choice struct {
	bm, bk, bn int
	params     string
}

func choiceOf(s *stats.Summary) choice { return choice{s.BM, s.BK, s.BN, s.Params} }

// sides are those of the block shape; of families with fewer the others are 0.
func (c choice) sides() []int { return []int{c.bm, c.bk, c.bn} }

// volume is that of a block; 0 if there is none.
func (c choice) volume() float64 {
	v := float64(c.bm)
	for _, side := range []int{c.bk, c.bn} {
		if side > 0 {
			v *= float64(side)
		}
	}
	return v
}

// name writes the blocks, shortened where all three are equal.
func (c choice) name() string {
	if c.bm == c.bk && c.bk == c.bn && c.bm > 0 {
		return fmt.Sprintf("%d³", c.bm)
	}
	if c.volume() == 0 {
		return "default blocks"
	}
	return (&results.Record{BM: c.bm, BK: c.bk, BN: c.bn}).Blocks()
}

// clippedTo returns the choice as it is on arrays of the size of r.
func (c choice) clippedTo(r *results.Record) choice {
	sides := c.sides()
	for i, size := range r.SizesOf(len(sides)) {
		sides[i] = min(sides[i], size)
	}
	return choice{sides[0], sides[1], sides[2], c.params}
}

// curvesOf sorts summaries into curves, in the order in which charts list
// them. With split, choices that compete at a size become curves of their own.
// Where two summaries claim one place on a curve (the same point in two files)
// the newest has it.
func curvesOf(summaries []stats.Summary, split bool) []*curve {
	lines := map[[2]string][]*stats.Summary{}
	for i := range summaries {
		s := &summaries[i]
		id := [2]string{s.Kernel, lineID(&s.Record)}
		lines[id] = append(lines[id], s)
	}
	var list []*curve
	for id, line := range lines {
		if split && contested(line) {
			list = append(list, splitChoices(id[0], line)...)
			continue
		}
		c := &curve{kernel: id[0], single: true, at: map[string]*stats.Summary{}}
		for _, s := range line {
			c.add(s)
		}
		list = append(list, c)
	}
	slices.SortFunc(list, compareCurves)
	return list
}

func (c *curve) add(s *stats.Summary) {
	if old := c.at[s.Size()]; old == nil || old.StartedAt.Before(s.StartedAt) {
		c.at[s.Size()] = s
	}
}

// contested reports whether some size has more than one choice.
func contested(line []*stats.Summary) bool {
	first := map[string]choice{}
	for _, s := range line {
		if c, ok := first[s.Size()]; ok && c != choiceOf(s) {
			return true
		}
		first[s.Size()] = choiceOf(s)
	}
	return false
}

// splitChoices makes a curve of each choice. One that exists at a single size,
// only because a larger one was clipped to the array there, is left to the
// curve of the smallest it could come from, with what was left to it: 384³ at size
// 384 is 512³.
func splitChoices(kernel string, line []*stats.Summary) []*curve {
	byChoice := map[choice]*curve{}
	for _, s := range line {
		c := byChoice[choiceOf(s)]
		if c == nil {
			c = &curve{kernel: kernel, choice: choiceOf(s), at: map[string]*stats.Summary{}}
			byChoice[choiceOf(s)] = c
		}
		c.add(s)
	}
	list := slices.SortedFunc(maps.Values(byChoice), compareCurves)
	alone := map[*curve]bool{} // at a single size, of itself
	for _, c := range list {
		alone[c] = len(c.at) == 1
	}
	var kept []*curve
	for i, c := range list {
		from := slices.IndexFunc(list[i+1:], func(larger *curve) bool { return larger.clipsTo(c) })
		if !alone[c] || from < 0 {
			kept = append(kept, c)
			continue
		}
		for _, s := range c.at {
			list[i+1+from].add(s)
		}
	}
	return kept
}

// clipsTo reports whether c's choice, clipped to the arrays, is that of all of o,
// at sizes that c does not have.
func (c *curve) clipsTo(o *curve) bool {
	for size, s := range o.at {
		if c.at[size] != nil || c.choice.clippedTo(&s.Record) != choiceOf(s) {
			return false
		}
	}
	return true
}

// any returns one of the curve's summaries, the same in every run.
func (c *curve) any() *stats.Summary {
	return c.at[slices.Min(slices.Collect(maps.Keys(c.at)))]
}

// compareCurves orders by kernel, the baseline first, then measured before
// predicted, then by the facets, the volume of the blocks and the rest.
func compareCurves(a, b *curve) int {
	ra, rb := &a.any().Record, &b.any().Record
	return cmp.Or(
		stats.CompareKernels(a.kernel, b.kernel),
		cmp.Compare(ra.Mode, rb.Mode),
		strings.Compare(lineID(ra), lineID(rb)),
		cmp.Compare(a.choice.volume(), b.choice.volume()),
		slices.Compare([]int{a.choice.bm, a.choice.bk, a.choice.bn}, []int{b.choice.bm, b.choice.bk, b.choice.bn}),
		strings.Compare(a.choice.params, b.choice.params),
	)
}

// labels names the curves: by kernel where several are shown, by choice where
// the kernel has several, and by every facet in which the curves differ.
func labels(curves []*curve, severalKernels bool) []string {
	names := make([]string, len(curves))
	for i, c := range curves {
		var parts []string
		if severalKernels || c.kernel == results.Baseline {
			parts = append(parts, c.kernel)
		}
		siblings := make([]*results.Record, 0, len(curves))
		sameMode := make([]*results.Record, 0, len(curves))
		tuned := false
		r := &c.any().Record
		for _, o := range curves {
			if (o.kernel == results.Baseline) != (c.kernel == results.Baseline) {
				continue // the baseline runs in its own way, which the subtitle states
			}
			siblings = append(siblings, &o.any().Record)
			if o.any().Mode == r.Mode {
				sameMode = append(sameMode, &o.any().Record)
			}
			tuned = tuned || o.kernel == c.kernel && o.choice.params != c.choice.params
		}
		if !c.single {
			parts = append(parts, c.choice.name())
			if tuned {
				parts = append(parts, c.choice.params)
			}
		}
		for _, f := range facets {
			among := siblings
			switch f.name {
			case "method", "backend", "plugin":
				among = sameMode // a prediction has its own anyway
			}
			if text := f.of(r); f.name != "mode" && text != "" && f.differ(among) {
				parts = append(parts, text)
			}
		}
		if len(parts) == 0 {
			parts = append(parts, c.kernel)
		}
		if r.Mode == results.Predicted {
			parts = append(parts, "predicted")
		}
		names[i] = strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
	}
	return names
}

// A slot is the look of a curve within its kernel. A prediction has that of
// the measurement of the same choice.
type slot struct{ index, count, shape int }

// shade spreads the slots of a kernel over its ramp, in order.
func (s slot) shade() float64 {
	if s.count < 2 {
		return 0
	}
	return 2*float64(s.index)/float64(s.count-1) - 1
}

// slots gives each curve its slot.
func slots(curves []*curve) []slot {
	var list []slot
	type look struct {
		kernel string
		choice choice
		again  int // of several curves with one choice in one mode
	}
	type pick struct {
		kernel string
		choice choice
		mode   results.Mode
	}
	index, again, count := map[look]int{}, map[pick]int{}, map[string]int{}
	for _, c := range curves {
		p := pick{c.kernel, c.choice, c.any().Mode}
		l := look{c.kernel, c.choice, again[p]}
		again[p]++
		if _, ok := index[l]; !ok {
			index[l] = count[c.kernel]
			count[c.kernel]++
		}
		list = append(list, slot{index: index[l]})
	}
	for i, c := range curves {
		list[i].count = count[c.kernel]
	}
	shapes(curves, list)
	return list
}

// shapes gives each slot its marker. A rung's first is that of its number, the
// baseline's is the first of all, whatever else is shown. Peers, kernels without a
// number and further curves of one kernel take those that are left.
func shapes(curves []*curve, list []slot) {
	type look struct {
		kernel string
		index  int
	}
	shape := map[look]int{}
	taken := map[int]bool{0: true} // the baseline's, even where there is none
	for _, c := range curves {
		if n, ok := stats.Rung(c.kernel); ok {
			shape[look{c.kernel, 0}] = n
			taken[n%len(markers)] = true
		}
	}
	shape[look{results.Baseline, 0}] = 0
	var free []int
	for i := range markers {
		if at := (len(rungColor) + 1 + i) % len(markers); !taken[at] { // those of no rung first
			free = append(free, at)
		}
	}
	next := 0
	for i, c := range curves {
		l := look{c.kernel, list[i].index}
		if _, ok := shape[l]; !ok {
			shape[l] = next
			if len(free) > 0 {
				shape[l] = free[next%len(free)]
			}
			next++
		}
		list[i].shape = shape[l]
	}
}
