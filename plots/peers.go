package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// peersPictures shows the fastest of our kernels beside the libraries that it was
// measured with: square problems as lines, others as bars, apart for each kind of
// operands, quantization and number of threads.
func peersPictures(q Request, d data) (list []figure.Picture, err error) {
	type operands struct{ dtypes, quant string }
	type id struct {
		operands operands
		threads  int
		square   bool
	}
	all := slices.DeleteFunc(stats.Contests(stats.Best(d.asked)), func(c stats.Contest) bool {
		return !slices.ContainsFunc(c.Points, func(s *stats.Summary) bool { return s.Peer() || s.Kernel == results.Baseline })
	})
	idOf := func(c *stats.Contest) id {
		s := c.Points[0]
		return id{operands{s.Dtypes(), s.Quant}, s.Threads, square(s)}
	}
	kinds := distinct(all, func(c *stats.Contest) operands { return idOf(c).operands })
	order, contests := each.Grouped(all, idOf)
	for _, key := range order {
		arena := newArena(newest(contests[key]))
		if arena.points == nil {
			continue // all are unsupported
		}
		threads := words.Counted(key.threads, "thread", 1)
		h := headingOf(q, strings.TrimSuffix("Peers, "+threads, ", "), arena.points, true, hollowWords)
		for _, part := range []struct {
			told bool
			name string
		}{{len(kinds) > 1, arena.points[0].DtypeOut}, {len(kinds) > 1, key.operands.quant}, {true, strings.ReplaceAll(threads, " ", "_")}, {!key.square, "shapes"}} {
			if part.told && part.name != "" {
				h.Name += "_" + figure.FileSafe(part.name)
			}
		}
		if key.square {
			list = append(list, arena.chart(h))
		} else {
			list = append(list, arena.bars(h))
		}
	}
	if list == nil {
		return nil, fmt.Errorf("no row in %s has a peer beside it; make them with: go run ./cmd/peers --dtype %s", q.Dtype, q.Dtype)
	}
	return list, nil
}

// newest leaves out contests at a size that a newer one has.
func newest(contests []stats.Contest) []stats.Contest {
	sizes, at := each.Grouped(contests, func(c *stats.Contest) string { return c.Points[0].Size() })
	return each.Of(sizes, func(size string) stats.Contest {
		return slices.MaxFunc(at[size], func(a, b stats.Contest) int { return a.Points[0].StartedAt.Compare(b.Points[0].StartedAt) })
	})
}

// An arena is contests of several sizes under one condition.
type arena struct {
	contests []stats.Contest
	points   []*stats.Summary // of all contenders
	sides    []side           // ours last
}

// A side is one contender, by size.
type side struct {
	label, kernel string
	color         color.NRGBA
	at            map[string]*stats.Summary
}

func newArena(contests []stats.Contest) arena {
	a := arena{contests: contests}
	ours := side{at: map[string]*stats.Summary{}}
	var names []string
	for _, c := range contests {
		if c.Best != nil {
			a.points = append(a.points, c.Best)
			ours.at[c.Best.Size()] = c.Best
			ours.color = kernelColor(c.Best.Kernel)
			names = each.With(names, c.Best.Kernel)
		}
		for _, s := range c.Points {
			if !s.Peer() && s.Kernel != results.Baseline || s.Status == results.Unsupported {
				continue
			}
			name := s.Kernel
			if s.Peer() {
				name = s.PeerName()
			}
			i := slices.IndexFunc(a.sides, func(o side) bool { return o.label == name })
			if i < 0 {
				i, a.sides = len(a.sides), append(a.sides, side{label: name, kernel: s.Kernel, at: map[string]*stats.Summary{}})
			}
			a.sides[i].at[s.Size()] = s
			a.points = append(a.points, s)
		}
	}
	slices.SortFunc(a.sides, func(a, b side) int {
		return cmp.Or(stats.CompareKernels(a.kernel, b.kernel), strings.Compare(a.label, b.label))
	})
	_, alike := each.Grouped(a.sides, func(s *side) color.NRGBA { return kernelColor(s.kernel) })
	for i := range a.sides {
		s := &a.sides[i]
		of := alike[kernelColor(s.kernel)] // versions of one, or guests, which have one colour
		s.color = slot{index: slices.IndexFunc(of, func(o side) bool { return o.label == s.label }), count: len(of)}.color(s.kernel)
	}
	slices.Sort(names)
	if ours.label = strings.Join(names, " or "); len(names) > 0 {
		a.sides = append(a.sides, ours)
	}
	return a
}

// summaries returns copies of the points, as functions of several charts take them.
func (a arena) summaries() []stats.Summary {
	return each.Of(a.points, func(s *stats.Summary) stats.Summary { return *s })
}

// chart draws rate against size.
func (a arena) chart(h figure.Heading) *figure.Chart {
	all := a.summaries()
	ch := &figure.Chart{Heading: h, X: squareAxis(all)}
	ch.Roofs = roofsOf(all)
	for i, side := range a.sides {
		s := figure.Series{Label: side.label, Color: side.color, Shape: i, Bold: i == len(a.sides)-1}
		for _, sum := range side.at {
			n, _ := sum.Square()
			addRate(&s, float64(n), sum)
		}
		s.Sort()
		ch.Series = append(ch.Series, s)
	}
	fitRates(ch, all[0].RateOf())
	return ch
}

// bars draws the rates at each shape, and under them our rate over that of the best peer.
func (a arena) bars(h figure.Heading) *figure.Bars {
	all := a.summaries()
	b := &figure.Bars{Heading: h, X: categories(all)}
	ratio := figure.BarPanel{Y: figure.Axis{Label: "times the rate of the best peer, paired by round", Unit: times}, Mark: 1}
	most := each.Most(each.That(a.points, usable), func(s *stats.Summary) float64 { return s.Rate.Median })
	unit := rateUnit(most, all[0].RateOf())
	rates := figure.BarPanel{Y: figure.Axis{Label: unit.Name, Unit: unit}}
	for i, side := range a.sides {
		b.Series = append(b.Series, figure.BarSeries{Label: side.label, Color: side.color})
		for g, t := range b.X.Ticks {
			s := side.at[t.Label]
			if s == nil {
				continue
			}
			bar := figure.Bar{Group: g, Series: i, Status: failureOf(s)}
			if usable(s) {
				bar = figure.Bar{Group: g, Series: i, Y: s.Rate.Median, Lo: s.Rate.Lo, Hi: s.Rate.Hi,
					Label: figure.Digits(s.Rate.Median / unit.Value), LowConfidence: !s.Rate.Holds()}
			}
			rates.Bars = append(rates.Bars, bar)
		}
	}
	for _, c := range a.contests {
		if c.Ratio.Known() {
			g := slices.IndexFunc(b.X.Ticks, func(t figure.Tick) bool { return t.Label == c.Points[0].Size() })
			ratio.Bars = append(ratio.Bars, valueBar(figure.Bar{Group: g, Series: len(a.sides) - 1}, c.Ratio, "×"))
		}
	}
	b.Add(rates)
	b.Add(ratio)
	return b
}
