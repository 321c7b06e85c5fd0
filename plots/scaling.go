package plots

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/machine/mesh"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// scalingPictures shows products spread over a mesh: the rate of all devices together in %
// of their peak, by how many they are, a line for each way to spread. There is
// a picture of each product that the sweep has on several numbers of devices; strong
// scaling is that product itself, weak scaling those with as many rows for each device
// as it has on the most devices, which belong to both.
func scalingPictures(q Request, d data) ([]figure.Picture, error) {
	var list []figure.Picture
	for i, sp := range scaledProducts(d.asked) {
		p, err := sp.picture(q)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			p.Name += "_" + figure.FileSafe(sp.whole.Size())
		}
		list = append(list, p)
	}
	if list == nil {
		return nil, errors.New("no product on meshes of several sizes: bench --backend aot --topology v5e --mesh data=16,model=16 --config sharded predicts some")
	}
	return list, nil
}

// A scaledProduct is one product on several device counts: strong keeps all its sizes, weak
// its rows for each device.
type scaledProduct struct {
	whole        *stats.Summary // on the most devices
	strong, weak []*stats.Summary
}

// scaledProducts finds the products to show, the largest first. It skips a product on one device
// count that already is a weak-scaling point of a larger one, or that has no weak scaling.
func scaledProducts(summaries []stats.Summary) []scaledProduct {
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
	meshed := each.That(each.Pointers(summaries), func(s *stats.Summary) bool { return s.Mesh != "" && s.Devices >= 1 && s.M >= 1 })
	products, spread := each.Grouped(meshed, func(s **stats.Summary) product { return of(*s) })
	_, alike := each.Grouped(meshed, func(s **stats.Summary) product { return anyRows(of(*s)) }) // but for M
	slices.SortStableFunc(products, func(a, b product) int {
		return cmp.Compare(spread[b][0].Work(), spread[a][0].Work())
	})
	most := func(list []*stats.Summary) *stats.Summary {
		return slices.MaxFunc(list, func(a, b *stats.Summary) int { return cmp.Compare(a.Devices, b.Devices) })
	}
	var list []scaledProduct
	shown := map[product]bool{} // as a weak-scaling point of a larger one
	for _, p := range products {
		sp := scaledProduct{whole: most(spread[p]), strong: spread[p]}
		sp.weak = each.That(alike[anyRows(p)], func(s *stats.Summary) bool {
			return s.M*sp.whole.Devices == p.m*s.Devices // as many rows for each device
		})
		oneCount := func(list []*stats.Summary) bool {
			return !slices.ContainsFunc(list, func(s *stats.Summary) bool { return s.Devices != list[0].Devices })
		}
		if oneCount(sp.strong) && (shown[p] || oneCount(sp.weak)) {
			continue
		}
		for _, s := range sp.weak {
			shown[of(s)] = true
		}
		if oneCount(sp.strong) {
			sp.strong = nil
		}
		if oneCount(sp.weak) {
			sp.weak = nil
		}
		list = append(list, sp)
	}
	return list
}

func (sp scaledProduct) picture(q Request) (*figure.Panels, error) {
	all := slices.Concat(sp.strong, sp.weak)
	if !slices.ContainsFunc(all, usable) {
		return nil, fmt.Errorf("no product of %s on a mesh has a rate: %s", sp.whole.Size(), failureOf(sp.whole))
	}
	p := &figure.Panels{Heading: headingOf(q, "Scaling of "+sp.whole.Size(), all, false, hollowWords)}
	ticks := each.Of(all, func(s *stats.Summary) figure.Tick {
		return figure.Tick{Value: float64(s.Devices), Label: strconv.Itoa(s.Devices)}
	})
	rows := strconv.FormatFloat(float64(sp.whole.M)/float64(sp.whole.Devices), 'f', -1, 64)
	devices, ways := figure.Powers("devices", ticks), waysToSpread(all)
	y := figure.Axis{Label: "% of the peak of all devices", Max: 106, Unit: percent}
	if drawable(sp.whole.Roof()) {
		y.Label += fmt.Sprintf(" (%d: %s)", sp.whole.Devices, peakOf(sp.whole))
	}
	p.Rows = [][]figure.Panel{{
		{Title: "strong: the same product on more devices", X: devices, Y: y},
		{Title: "weak: " + rows + " rows for each device", X: devices, Y: y},
	}}
	fillScaling(&p.Rows[0][0], sp.strong, ways)
	fillScaling(&p.Rows[0][1], sp.weak, ways)
	lines, footer := wordsOfScaling(all)
	p.Subtitle, p.Footer = lines, append(p.Footer, footer...)
	sayCovered(p, p.Rows[0], ways)
	return p, nil
}

// peakOf is the peak of all devices of a point, up to EFLOP/s.
func peakOf(s *stats.Summary) string {
	step := max(0, min(3, int(math.Log10(s.Roof()/1e9)/3)))
	return figure.Unit{Name: "GTPE"[step:step+1] + s.RateOf().PerSecond(), Value: math.Pow(1000, float64(step+3))}.Format(s.Roof())
}

// fillScaling draws one kind of scaling.
func fillScaling(p *figure.Panel, summaries []*stats.Summary, ways []way) {
	for _, w := range ways {
		s := figure.Series{Label: w.label, Shape: w.shape, Color: w.color, Predicted: w.mode == results.Predicted}
		for _, sum := range w.fastest(summaries) {
			if v := sum.PercentOfPeak; usable(sum) && drawn(v) {
				pt := pointOf(float64(sum.Devices), v)
				pt.LowConfidence = !sum.Rate.Holds()
				s.Points = append(s.Points, pt)
			} else {
				s.Failures = append(s.Failures, failed(float64(sum.Devices), sum))
			}
		}
		p.Add(s)
	}
	if p.Mark = 100; len(p.Series) == 0 {
		p.Note = "no such rows"
	}
}

// sayCovered names the pairs of ways whose points lie on each other in all panels.
func sayCovered(p *figure.Panels, panels []figure.Panel, ways []way) {
	of := func(p figure.Panel, label string) []figure.Point {
		if at := slices.IndexFunc(p.Series, func(s figure.Series) bool { return s.Label == label }); at >= 0 {
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
				same = same && slices.EqualFunc(a, b, alike)
			}
			if same && points > 0 {
				names = append(names, w.name+" and "+o.name)
			}
		}
	}
	if names != nil {
		p.Subtitle = append(p.Subtitle, "nearly equal, one drawn over the other: "+strings.Join(names, ", "))
	}
}

// A way is how a kernel spreads a product: a line of the picture.
type way struct {
	kernel, variant string
	mode            results.Mode
	name, label     string // the label has what it does, too
	color           color.NRGBA
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
		list = each.With(list, way{kernel: s.Kernel, variant: s.Variant, mode: s.Mode})
	}
	slices.SortStableFunc(list, func(a, b way) int {
		return cmp.Or(cmp.Compare(uint(known(a.variant)), uint(known(b.variant))), // unknown ones last
			strings.Compare(a.variant, b.variant), stats.CompareKernels(a.kernel, b.kernel), strings.Compare(string(a.mode), string(b.mode)))
	})
	variants := distinct(list, func(w *way) string { return w.variant })
	for i := range list {
		w := &list[i]
		w.color, w.shape = wayColor[slices.Index(variants, w.variant)%len(wayColor)], i
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
	of := slices.DeleteFunc(slices.Clone(summaries), func(s *stats.Summary) bool {
		return s.Kernel != w.kernel || s.Variant != w.variant || s.Mode != w.mode
	})
	rate := func(s *stats.Summary) float64 {
		if usable(s) {
			return s.Rate.Median
		}
		return 0
	}
	numbers, on := each.Grouped(of, func(s **stats.Summary) int { return (*s).Devices })
	return each.Of(numbers, func(n int) *stats.Summary {
		return slices.MaxFunc(on[n], func(a, b *stats.Summary) int { return cmp.Compare(rate(a), rate(b)) })
	})
}

// wordsOfScaling are the lines under the title, how to read it and what has no point, and those of
// the footer: what is a prediction's and what a model's.
func wordsOfScaling(summaries []*stats.Summary) (lines, footer []string) {
	var failed []string
	meshes := map[int]string{}
	several, predicted := false, false
	for _, s := range summaries {
		several = several || meshes[s.Devices] != "" && meshes[s.Devices] != s.Mesh
		meshes[s.Devices] = s.Mesh
		predicted = predicted || s.Mode == results.Predicted
		if !usable(s) {
			failed = each.With(failed, fmt.Sprintf("%s of %s on %d: %s", s.Variant, s.Size(), s.Devices, failureOf(s)))
		}
	}
	if predicted {
		lines = append(lines, "line: compute, then exchange · band: from the longer of the two alone to their sum, with the model's figures at their best and worst")
		footer = append(footer, "libtpu's word: the schedule that one device computes by; which bytes are exchanged, and by which collective · "+
			"a model: how long that schedule takes, and all time on the wire (start + hops × latency + bytes / bandwidth of the links)")
	}
	if several {
		lines = append(lines, "of several meshes of as many devices the fastest is shown")
	}
	if len(failed) > 0 {
		lines = append(lines, "no point: "+words.First(failed, 3, ", "))
	}
	return lines, footer
}
