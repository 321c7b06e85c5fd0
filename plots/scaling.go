package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/stats"

	"matladder/machine/mesh"
	"matladder/results"
)

// scalingPictures shows products spread over a mesh: the rate of all devices together
// by how many they are, and in % of their peak, a line for each way to spread. There is
// a picture of each product that the sweep has on several numbers of devices; strong
// scaling is that product itself, weak scaling those with as many rows for each device
// as it has on the most devices, which belong to both.
func scalingPictures(q Request, d data) ([]Picture, error) {
	var list []Picture
	for i, g := range grownOf(d.asked) {
		p, err := g.picture(q)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			p.Name += "_" + fileSafe(g.whole.Size())
		}
		list = append(list, p)
	}
	if list == nil {
		return nil, errors.New("no product on meshes of several sizes: bench --backend aot --topology v5e --mesh data=16,model=16 --config sharded predicts some")
	}
	return list, nil
}

// grown is a product that grows with its devices, and stays as it is on all of them.
type grown struct {
	whole        *stats.Summary // on the most devices
	strong, weak []*stats.Summary
}

// grownOf finds the products that grow, the largest first. A product of the same
// K and N whose rows are those of a larger one in weak scaling is no picture of its own
// unless it is on several numbers of devices.
func grownOf(summaries []stats.Summary) []grown {
	type product struct {
		family, dtypes  string
		batch, m, k, n  int
		quant, activate string
		options, acc    string
	}
	of := func(s *stats.Summary) product {
		return product{s.FamilyName(), s.Dtypes(), s.Batch, s.M, s.K, s.N, s.Quant, s.Activation, s.Options, s.DtypeAcc}
	}
	anyRows := func(p product) product { p.m = 0; return p }
	spread, alike := map[product][]*stats.Summary{}, map[product][]*stats.Summary{} // alike but for M
	var products []product
	for i := range summaries {
		s := &summaries[i]
		if s.Mesh == "" || s.Devices < 1 || s.M < 1 {
			continue
		}
		if spread[of(s)] == nil {
			products = append(products, of(s))
		}
		spread[of(s)] = append(spread[of(s)], s)
		alike[anyRows(of(s))] = append(alike[anyRows(of(s))], s)
	}
	slices.SortStableFunc(products, func(a, b product) int {
		return cmp.Compare(spread[b][0].Work(), spread[a][0].Work())
	})
	most := func(list []*stats.Summary) *stats.Summary {
		return slices.MaxFunc(list, func(a, b *stats.Summary) int { return cmp.Compare(a.Devices, b.Devices) })
	}
	var list []grown
	used := map[product]bool{} // as weak scaling of a larger one
	for _, p := range products {
		g := grown{whole: most(spread[p]), strong: spread[p]}
		for _, s := range alike[anyRows(p)] {
			if s.M*g.whole.Devices == p.m*s.Devices { // as many rows for each device
				g.weak = append(g.weak, s)
			}
		}
		alone := func(list []*stats.Summary) bool {
			return !slices.ContainsFunc(list, func(s *stats.Summary) bool { return s.Devices != list[0].Devices })
		}
		if alone(g.strong) && (used[p] || alone(g.weak)) {
			continue
		}
		for _, s := range g.weak {
			used[of(s)] = true
		}
		if alone(g.strong) {
			g.strong = nil
		}
		if alone(g.weak) {
			g.weak = nil
		}
		list = append(list, g)
	}
	return list
}

func (g grown) picture(q Request) (*Panels, error) {
	all := slices.Concat(g.strong, g.weak)
	if !slices.ContainsFunc(all, usable) {
		return nil, fmt.Errorf("no product of %s on a mesh has a rate: %s", g.whole.Size(), failureOf(g.whole))
	}
	p := &Panels{Heading: headingOf(q, "Scaling of "+g.whole.Size(), all, false, hollow)}
	top, bottom := 0.0, math.Inf(1)
	var ticks []Tick
	for _, s := range all {
		ticks = append(ticks, Tick{Value: float64(s.Devices), Label: strconv.Itoa(s.Devices)})
		if usable(s) {
			top, bottom = math.Max(top, s.Rate.Hi), math.Min(bottom, s.Rate.Lo)
		}
		if peak := s.Roof(); drawable(peak) {
			top = math.Max(top, peak)
		}
	}
	unit := rateUnit(top, g.whole.RateOf())
	devices := powersAxis("devices", ticks)
	together := Axis{Label: unit.Name + " of all devices together", Scale: Log, Min: bottom / 1.3, Max: top * 1.3, Unit: unit}
	share := Axis{Label: "% of the peak of all devices", Scale: Linear, Max: 106, Unit: Unit{"%", 1}}
	ways := waysToSpread(all)
	rows := strconv.FormatFloat(float64(g.whole.M)/float64(g.whole.Devices), 'f', -1, 64)
	panels := func(y Axis, of func(*stats.Summary) stats.Estimate, roof func(*stats.Summary) float64) []Panel {
		return []Panel{
			scalingPanel("strong: the same product on more devices", devices, y, g.strong, ways, of, roof),
			scalingPanel("weak: "+rows+" rows for each device", devices, y, g.weak, ways, of, roof),
		}
	}
	p.Rows = [][]Panel{panels(together, func(s *stats.Summary) stats.Estimate { return s.Rate }, (*stats.Summary).Roof)}
	if slices.ContainsFunc(all, func(s *stats.Summary) bool { return usable(s) && drawn(s.PercentOfPeak) }) {
		whole := func(s *stats.Summary) float64 {
			if drawable(s.Roof()) {
				return 100
			}
			return 0
		}
		p.Rows = append(p.Rows, panels(share, func(s *stats.Summary) stats.Estimate { return s.PercentOfPeak }, whole))
	}
	p.Subtitle = append([]string{p.Subtitle[0]}, wordsOfScaling(all)...)
	if hidden := covered(p.Rows[0], ways); hidden != nil {
		p.Subtitle = append(p.Subtitle, "nearly equal, one drawn over the other: "+strings.Join(hidden, ", "))
	}
	return p, nil
}

// scalingPanel draws one kind of scaling. roof is the most that the devices could do.
func scalingPanel(title string, x, y Axis, summaries []*stats.Summary, ways []way,
	of func(*stats.Summary) stats.Estimate, roof func(*stats.Summary) float64) Panel {
	p := Panel{Title: title, X: x, Y: y}
	for _, w := range ways {
		s := Series{Label: w.label, Kernel: w.kernel, Shape: w.shape, Hue: w.hue, Predicted: w.mode == results.Predicted}
		for _, sum := range w.fastest(summaries) {
			if v := of(sum); usable(sum) && drawn(v) {
				s.Points = append(s.Points, Point{X: float64(sum.Devices), Y: v.Median, Lo: v.Lo, Hi: v.Hi, Rough: !sum.Rate.Holds()})
			} else {
				s.Failures = append(s.Failures, Failure{float64(sum.Devices), failureOf(sum)})
			}
		}
		s.sort()
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	at := map[int]bool{}
	for _, s := range summaries {
		if v := roof(s); !at[s.Devices] && drawable(v) {
			at[s.Devices] = true
			p.Guide = append(p.Guide, Point{X: float64(s.Devices), Y: v})
		}
	}
	slices.SortFunc(p.Guide, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	p.GuideWords = "ideal: the peak of every device"
	if len(p.Series) == 0 {
		p.Note = "no such rows"
	}
	return p
}

// covered names the pairs of ways whose points lie on each other in all panels.
func covered(panels []Panel, ways []way) []string {
	const near = 0.02
	of := func(p Panel, label string) []Point {
		if at := slices.IndexFunc(p.Series, func(s Series) bool { return s.Label == label }); at >= 0 {
			return p.Series[at].Points
		}
		return nil
	}
	var names []string
	for i, w := range ways {
		for _, o := range ways[i+1:] {
			same, points := true, 0
			for _, p := range panels {
				a, b := of(p, w.label), of(p, o.label)
				points += len(a)
				same = same && slices.EqualFunc(a, b, func(a, b Point) bool { return a.X == b.X && math.Abs(a.Y-b.Y) < near*b.Y })
			}
			if same && points > 0 {
				names = append(names, w.name+" and "+o.name)
			}
		}
	}
	return names
}

// A way is how a kernel spreads a product: a line of the picture.
type way struct {
	kernel, variant string
	mode            results.Mode
	name, label     string // the label has what it does, too
	hue             Hue
	shape           int
}

// waysToSpread lists the ways that summaries have, in the order of mesh.Shardings.
func waysToSpread(summaries []*stats.Summary) []way {
	known := func(variant string) int {
		return slices.IndexFunc(mesh.Shardings, func(s mesh.Sharding) bool { return s.Name == variant })
	}
	var list []way
	several := false
	for _, s := range summaries {
		several = several || s.Kernel != summaries[0].Kernel || s.Mode != summaries[0].Mode
		w := way{kernel: s.Kernel, variant: s.Variant, mode: s.Mode}
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b way) int {
		return cmp.Or(cmp.Compare(uint(known(a.variant)), uint(known(b.variant))), // unknown ones last
			strings.Compare(a.variant, b.variant), stats.CompareKernels(a.kernel, b.kernel), strings.Compare(string(a.mode), string(b.mode)))
	})
	hues := map[string]Hue{}
	for i := range list {
		w := &list[i]
		if hues[w.variant] == 0 {
			hues[w.variant] = Hue(len(hues)%len(hueColor) + 1)
		}
		w.hue, w.shape = hues[w.variant], i
		w.name = cmp.Or(w.variant, w.kernel)
		if several {
			w.name = strings.Join([]string{w.kernel, w.variant, string(w.mode)}, " ")
		}
		w.label = w.name
		if at := known(w.variant); at >= 0 {
			w.label += ": " + mesh.Shardings[at].Help
		}
	}
	return list
}

// fastest returns the way's summaries, of each number of devices that of the fastest mesh.
func (w way) fastest(summaries []*stats.Summary) []*stats.Summary {
	at := map[int]*stats.Summary{}
	var list []int
	for _, s := range summaries {
		if s.Kernel != w.kernel || s.Variant != w.variant || s.Mode != w.mode {
			continue
		}
		old := at[s.Devices]
		if old == nil {
			list = append(list, s.Devices)
		}
		if old == nil || usable(s) && (!usable(old) || s.Rate.Median > old.Rate.Median) {
			at[s.Devices] = s
		}
	}
	var fastest []*stats.Summary
	for _, n := range list {
		fastest = append(fastest, at[n])
	}
	return fastest
}

// wordsOfScaling are the lines under the title: what is a prediction's, what a model's,
// and what has no point.
func wordsOfScaling(summaries []*stats.Summary) []string {
	var lines, failed []string
	meshes := map[int]string{}
	several, predicted, measured := false, false, false
	for _, s := range summaries {
		several = several || meshes[s.Devices] != "" && meshes[s.Devices] != s.Mesh
		meshes[s.Devices] = s.Mesh
		predicted = predicted || s.Mode == results.Predicted
		measured = measured || s.Mode == results.Measured
		if text := fmt.Sprintf("%s of %s on %d: %s", s.Variant, s.Size(), s.Devices, failureOf(s)); !usable(s) && !slices.Contains(failed, text) {
			failed = append(failed, text)
		}
	}
	if measured {
		lines = append(lines, intervals(summaries))
	}
	if predicted {
		lines = append(lines,
			"libtpu's word: the schedule that one device computes by; which bytes are exchanged, and by which collective",
			"a model: how long that schedule takes, and all time on the wire (hops × latency + bytes / bandwidth of the links)",
			"line: compute, then exchange · band: from the longer of the two alone to their sum, with the model's figures at their best and worst")
	}
	if several {
		lines = append(lines, "of several meshes of as many devices the fastest is shown")
	}
	if len(failed) > 0 {
		const named = 3
		text := "no point: " + strings.Join(failed[:min(named, len(failed))], ", ")
		if more := len(failed) - named; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, text)
	}
	if text := sources(summaries); text != "" {
		lines = append(lines, text)
	}
	return lines
}
