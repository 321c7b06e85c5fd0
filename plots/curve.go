package plots

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
	"matladder/stats"
)

// A curve is a series in the making: summaries of one kernel that agree in
// every facet, and in what the kernel chose unless each size has one choice.
type curve struct {
	kernel string
	choice choice
	single bool                      // one choice at each size: it is not the curve's name
	at     map[string]*stats.Summary // by Record.Size
}

// A choice is what a kernel may choose for itself.
type choice struct {
	sides  [3]int // bm, bk, bn of the block shape; of families with fewer the others are 0
	params string
}

func choiceOf(s *stats.Summary) choice { return choice{[3]int{s.BM, s.BK, s.BN}, s.Params} }

// volume is that of a block; 0 if there is none.
func (c choice) volume() float64 {
	v := float64(c.sides[0])
	for _, side := range c.sides[1:] {
		if side > 0 {
			v *= float64(side)
		}
	}
	return v
}

// name writes the blocks, shortened where all three are equal.
func (c choice) name() string {
	m, k, n := c.sides[0], c.sides[1], c.sides[2]
	switch {
	case m == k && k == n && m > 0:
		return fmt.Sprintf("%d³", m)
	case c.volume() == 0:
		return "default blocks"
	}
	return (&results.Record{BM: m, BK: k, BN: n}).Blocks()
}

// clippedTo returns the choice as it is on arrays of the size of r.
func (c choice) clippedTo(r *results.Record) choice {
	for i, size := range r.SizesOf(len(c.sides)) {
		c.sides[i] = min(c.sides[i], size)
	}
	return c
}

// curvesOf sorts summaries into curves, in the order in which charts list them. With split,
// choices that compete at a size become curves of their own. Where two summaries claim one place
// on a curve (the same point in two files) the newest has it.
func curvesOf(summaries []stats.Summary, split bool) (list []*curve) {
	type id struct{ kernel, line string }
	_, lines := each.Grouped(summaries, func(s *stats.Summary) id { return id{s.Kernel, lineID(&s.Record)} })
	for id, line := range lines {
		c := &curve{kernel: id.kernel, single: true}
		c.add(line)
		if split && c.contested(line) {
			list = append(list, c.split(line)...)
		} else {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, compareCurves)
	return list
}

func (c *curve) add(line []stats.Summary) {
	if c.at == nil {
		c.at = map[string]*stats.Summary{}
	}
	for i := range line {
		s := &line[i]
		if old := c.at[s.Size()]; old == nil || old.StartedAt.Before(s.StartedAt) {
			c.at[s.Size()] = s
		}
	}
}

// contested reports whether some size has more than one choice.
func (c *curve) contested(line []stats.Summary) bool {
	return slices.ContainsFunc(line, func(s stats.Summary) bool { return choiceOf(&s) != choiceOf(c.at[s.Size()]) })
}

// split makes a curve of each choice. A choice at a single size is merged, with anything
// already merged into it, into the next larger choice that clips to it. It is that
// choice clipped to the array: 384³ at size 384 is 512³.
func (c *curve) split(line []stats.Summary) (kept []*curve) {
	_, byChoice := each.Grouped(line, choiceOf)
	var list []*curve
	for choice, of := range byChoice {
		one := &curve{kernel: c.kernel, choice: choice}
		one.add(of)
		list = append(list, one)
	}
	slices.SortFunc(list, compareCurves)
	alone := map[*curve]bool{} // at a single size before any merge
	for _, c := range list {
		alone[c] = len(c.at) == 1
	}
	for i, c := range list {
		from := slices.IndexFunc(list[i+1:], func(larger *curve) bool { return larger.clipsTo(c) })
		if !alone[c] || from < 0 {
			kept = append(kept, c)
			continue
		}
		for _, s := range c.at {
			list[i+1+from].add([]stats.Summary{*s})
		}
	}
	return kept
}

// clipsTo reports whether c lacks every size of o, and c's choice, clipped to the arrays of
// that size, is o's there.
func (c *curve) clipsTo(o *curve) bool {
	for size, s := range o.at {
		if c.at[size] != nil || c.choice.clippedTo(&s.Record) != choiceOf(s) {
			return false
		}
	}
	return true
}

// any returns one of the curve's summaries, the same in every run.
func (c *curve) any() *stats.Summary { return c.at[slices.Min(slices.Collect(maps.Keys(c.at)))] }

// compareCurves orders by kernel, the baseline first, then measured before
// predicted, then by the facets, the volume of the blocks and the rest.
func compareCurves(a, b *curve) int {
	ra, rb := &a.any().Record, &b.any().Record
	return cmp.Or(
		stats.CompareKernels(a.kernel, b.kernel),
		cmp.Compare(ra.Mode, rb.Mode),
		strings.Compare(lineID(ra), lineID(rb)),
		cmp.Compare(a.choice.volume(), b.choice.volume()),
		slices.Compare(a.choice.sides[:], b.choice.sides[:]),
		strings.Compare(a.choice.params, b.choice.params),
	)
}

// labels names the curves: by kernel where several are shown, by choice where
// the kernel has several, and by every facet in which the curves differ.
func labels(curves []*curve, severalKernels bool) (names []string) {
	measured := slices.ContainsFunc(curves, func(c *curve) bool { return c.any().Mode != results.Predicted }) // else the title says so
	for _, c := range curves {
		var siblings, sameMode []*results.Record
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
		parts := []string{words.When(severalKernels || c.kernel == results.Baseline, "%s", c.kernel),
			words.When(!c.single, "%s", c.choice.name()), words.When(!c.single && tuned, "%s", c.choice.params)}
		for _, f := range facets {
			among := siblings
			if slices.Contains([]string{"method", "backend", "plugin"}, f.name) {
				among = sameMode // a prediction has its own anyway
			}
			if text := f.of(r); f.name != "mode" && text != "" && f.differ(among) {
				parts = append(parts, text)
			}
		}
		name := cmp.Or(words.Joined(" ", parts...), c.kernel)
		names = append(names, name+words.When(measured && r.Mode == results.Predicted, " predicted"))
	}
	return names
}

// distinct lists the different keys of a list in order of first occurrence.
func distinct[K comparable, V any](list []V, key func(*V) K) []K {
	order, _ := each.Grouped(list, key)
	return order
}

// A facet is something in which two points of one kernel and size may differ.
// What is the same for a whole chart stands in its subtitle; what differs
// stands in the labels of the curves, whether it was asked for or not.
type facet struct {
	name  string
	plain bool // an empty text means the plain case; otherwise, that the row does not say
	of    func(r *results.Record) string
}

var facets = []facet{
	{"family", true, (*results.Record).FamilyWord},
	{"dtypes", false, (*results.Record).Dtypes},
	{"variant", true, func(r *results.Record) string { return r.Variant }},
	{"quant", true, func(r *results.Record) string { return r.Quant }},
	{"activation", true, func(r *results.Record) string { return r.Activation }},
	{"options", true, func(r *results.Record) string { return r.Options }},
	{"precision", true, func(r *results.Record) string { return words.Between("precision ", r.Precision, "") }},
	{"acc", false, func(r *results.Record) string { return words.Between("acc ", r.DtypeAcc, "") }},
	{"mode", false, func(r *results.Record) string { return string(r.Mode) }},
	{"device", false, deviceOf},
	{"host", false, func(r *results.Record) string { return words.Between("host ", r.Host, "") }},
	{"backend", false, func(r *results.Record) string { return words.Between("backend ", r.Backend, "") }},
	{"plugin", false, func(r *results.Record) string { return strings.TrimSpace(r.Plugin + " " + r.PluginVersion) }},
	{"method", false, func(r *results.Record) string { return words.Between("method ", string(r.Method), "") }},
	{"isa", false, func(r *results.Record) string { return r.ISA }},
	{"threads", false, func(r *results.Record) string { return words.Counted(r.Threads, "thread", 1) }},
	{"devices", true, func(r *results.Record) string { return words.Counted(r.Devices, "device", 2) }},
	{"mesh", true, func(r *results.Record) string { return words.Between("mesh ", r.Mesh, "") }},
	{"cache", true, func(r *results.Record) string { return words.Between("", r.Cache, " caches") }},
	{"pin", true, func(r *results.Record) string { return words.Between("pinned to ", r.Pin, "") }},
	{"fault", true, func(r *results.Record) string { return words.Between("fault ", r.Fault, "") }},
	{"operands", false, func(r *results.Record) string { return words.Between("operands in ", r.Operands, "") }},
	{"dist", false, func(r *results.Record) string { return words.Between("inputs ", r.Dist, "") }},
	{"duty", true, dutyOf},
	{"window", true, func(r *results.Record) string { return strings.TrimSpace(strings.TrimPrefix(r.LoadWord(), dutyOf(r))) }},
	{"version", false, func(r *results.Record) string { return words.Between("matladder ", r.MatladderVersion, "") }},
}

// dutyOf is the part of a row's load that pictures hold against others.
func dutyOf(r *results.Record) string {
	return words.When(r.Duty != 0, "%d %% duty", r.Duty)
}

// differ reports whether records disagree in the facet.
func (f facet) differ(records []*results.Record) bool {
	seen := ""
	for i, r := range records {
		text := f.of(r)
		switch {
		case text == "" && !f.plain:
		case i == 0 || seen == "" && !f.plain:
			seen = text
		case text != seen:
			return true
		}
	}
	return false
}

// shared returns the texts of the named facets in which all records agree.
func shared(records []*results.Record, names ...string) []string {
	var list []string
	for _, f := range facets {
		if !slices.Contains(names, f.name) || f.differ(records) {
			continue
		}
		if text := cmp.Or(each.Of(records, f.of)...); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// lineID is what the points of one curve share besides the kernel: the texts of all facets.
func lineID(r *results.Record) string {
	var id strings.Builder
	for _, f := range facets {
		id.WriteString(f.of(r))
		id.WriteByte(0)
	}
	return id.String()
}
