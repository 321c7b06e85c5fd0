package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// peersPictures shows the fastest of our kernels beside the libraries that it was
// measured with: square problems as lines, others as bars, apart for each kind of
// operands, quantization and number of threads.
func peersPictures(q Request, d data) ([]Picture, error) {
	type id struct {
		operands operands
		threads  int
		square   bool
	}
	var order []id
	contests := map[id][]stats.Contest{}
	kinds := map[operands]bool{}
	for _, c := range stats.Contests(stats.Best(d.asked)) {
		s := c.Points[0]
		if !slices.ContainsFunc(c.Points, func(s *stats.Summary) bool { return s.Peer() || s.Kernel == results.Baseline }) {
			continue
		}
		key := id{operands{s.Dtypes(), s.Quant}, s.Threads, square(s)}
		if contests[key] == nil {
			order = append(order, key)
		}
		contests[key] = newest(contests[key], c)
		kinds[key.operands] = true
	}
	if order == nil {
		return nil, fmt.Errorf("no row in %s has a peer beside it; make them with: go run ./cmd/peers --dtype %s", q.Dtype, q.Dtype)
	}
	var list []Picture
	for _, key := range order {
		arena := newArena(contests[key])
		title := "Peers"
		if key.threads > 0 {
			title += ", " + counted(key.threads, "thread")
		}
		h := headingOf(q, title, arena.points, true, hollow)
		if len(kinds) > 1 {
			h.Name += "_" + fileSafe(arena.points[0].DtypeOut)
			if key.operands.quant != "" {
				h.Name += "_" + fileSafe(key.operands.quant)
			}
		}
		if key.threads > 0 {
			h.Name += "_" + strings.ReplaceAll(counted(key.threads, "thread"), " ", "_")
		}
		if key.square {
			list = append(list, arena.chart(h))
			continue
		}
		h.Name += "_shapes"
		list = append(list, arena.bars(h))
	}
	return list, nil
}

// operands are what is multiplied, and how it stands for real numbers.
type operands struct{ dtypes, quant string }

// newest adds c to the list, in place of an older contest at the same size.
func newest(list []stats.Contest, c stats.Contest) []stats.Contest {
	i := slices.IndexFunc(list, func(o stats.Contest) bool { return o.Points[0].Size() == c.Points[0].Size() })
	if i < 0 {
		return append(list, c)
	}
	if list[i].Points[0].StartedAt.Before(c.Points[0].StartedAt) {
		list[i] = c
	}
	return list
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
	shade         float64
	at            map[string]*stats.Summary
}

func newArena(contests []stats.Contest) arena {
	a := arena{contests: contests}
	sides := map[string]*side{}
	count := map[string]int{}
	ours := &side{at: map[string]*stats.Summary{}}
	var names []string
	for _, c := range contests {
		if c.Best != nil {
			a.points = append(a.points, c.Best)
			ours.at[c.Best.Size()] = c.Best
			ours.kernel = c.Best.Kernel
			if !slices.Contains(names, c.Best.Kernel) {
				names = append(names, c.Best.Kernel)
			}
		}
		for _, s := range c.Points {
			if !s.Peer() && s.Kernel != results.Baseline || s.Status == results.Unsupported {
				continue
			}
			name := s.Kernel
			if s.Peer() {
				name = s.PeerName()
			}
			if sides[name] == nil {
				sides[name] = &side{label: name, kernel: s.Kernel, at: map[string]*stats.Summary{}}
				count[s.Kernel]++
			}
			sides[name].at[s.Size()] = s
			a.points = append(a.points, s)
		}
	}
	for _, s := range sides {
		a.sides = append(a.sides, *s)
	}
	slices.SortFunc(a.sides, func(a, b side) int {
		return cmp.Or(stats.CompareKernels(a.kernel, b.kernel), strings.Compare(a.label, b.label))
	})
	index := map[string]int{}
	for i := range a.sides {
		s := &a.sides[i]
		s.shade = slot{index: index[s.kernel], count: count[s.kernel]}.shade()
		index[s.kernel]++
	}
	slices.Sort(names)
	ours.label = strings.Join(names, " or ")
	if len(names) > 0 {
		a.sides = append(a.sides, *ours)
	}
	return a
}

// summaries returns copies of the points, as functions of several charts take
// them.
func (a arena) summaries() []stats.Summary {
	var list []stats.Summary
	for _, s := range a.points {
		list = append(list, *s)
	}
	return list
}

// chart draws rate against size.
func (a arena) chart(h Heading) *Chart {
	all := a.summaries()
	ch := &Chart{Heading: h, Roofs: roofsOf(all), X: squareAxis(all)}
	for i, side := range a.sides {
		s := Series{Label: side.label, Kernel: side.kernel, Shade: side.shade, Shape: i, Bold: i == len(a.sides)-1}
		for _, sum := range side.at {
			n, _ := sum.Square()
			s.add(float64(n), sum)
		}
		s.sort()
		ch.Series = append(ch.Series, s)
	}
	ch.Y = rateAxis(ch, all[0].RateOf())
	for i := range ch.Roofs {
		ch.Roofs[i].Label += " " + ch.Y.Unit.Format(ch.Roofs[i].Peak)
	}
	return ch
}

// bars draws the rates at each shape, and under them our rate over that of the best
// peer.
func (a arena) bars(h Heading) *Bars {
	all := a.summaries()
	b := &Bars{Heading: h, X: categories(all)}
	rates := BarPanel{}
	ratio := BarPanel{Y: Axis{Label: "times the rate of the best peer, paired by round", Unit: Unit{"×", 1}}, Mark: 1}
	most := 0.0
	for _, s := range all {
		if usable(&s) {
			most = max(most, s.Rate.Median)
		}
	}
	unit := rateUnit(most, all[0].RateOf())
	rates.Y = Axis{Label: unit.Name, Unit: unit}
	for i, side := range a.sides {
		b.Series = append(b.Series, BarSeries{Label: side.label, Kernel: side.kernel, Shade: side.shade})
		for g, t := range b.X.Ticks {
			s := side.at[t.Label]
			switch bar := (Bar{Group: g, Series: i}); {
			case s == nil:
			case usable(s):
				bar.Y, bar.Lo, bar.Hi, bar.Label = s.Rate.Median, s.Rate.Lo, s.Rate.Hi, digits(s.Rate.Median/unit.Value)
				bar.Rough = !s.Rate.Holds()
				rates.Bars = append(rates.Bars, bar)
			default:
				bar.Status = failureOf(s)
				rates.Bars = append(rates.Bars, bar)
			}
		}
	}
	for _, c := range a.contests {
		if c.Ratio.Known() {
			g := slices.IndexFunc(b.X.Ticks, func(t Tick) bool { return t.Label == c.Points[0].Size() })
			ratio.Bars = append(ratio.Bars, valueBar(Bar{Group: g, Series: len(a.sides) - 1}, c.Ratio, "×"))
		}
	}
	for _, p := range []BarPanel{rates, ratio} {
		if len(p.Bars) > 0 {
			p.fit()
			b.Panels = append(b.Panels, p)
		}
	}
	return b
}
