package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// plot returns a gonum plot that has the chart's axes and nothing else.
func (ch *Chart) plot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	ch.X.apply(&p.X, pageWidth*0.7, true)
	ch.Y.apply(&p.Y, pageHeight*0.6, false)
	return p
}

// apply sets up axis a, about length long, as ax says.
func (ax Axis) apply(a *plot.Axis, length vg.Length, horizontal bool) {
	a.Min, a.Max = ax.Min, ax.Max
	a.Padding = 0
	a.LineStyle.Width = 1
	a.LineStyle.Color = softInk
	a.Tick.LineStyle.Width = 1
	a.Tick.LineStyle.Color = softInk
	a.Tick.Length = 5
	label := style(smallSize+0.5, ink)
	label.XAlign, label.YAlign = a.Tick.Label.XAlign, a.Tick.Label.YAlign
	a.Scale = linearScale{}
	if ax.Scale == Log {
		a.Scale = logScale{}
	}
	place := func(v float64) vg.Length {
		return vg.Length(a.Scale.Normalize(a.Min, a.Max, v)) * length
	}
	extent := func(t Tick) vg.Length {
		if horizontal {
			return label.Width(t.Label) + 8
		}
		return lineHeight(label)
	}
	ticks := ax.ticks()
	if ax.Scale == Category && horizontal {
		if crowded(ticks, place, extent) {
			label.Rotation = slant(label.Font.Size, length/vg.Length(len(ticks)))
			label.XAlign, label.YAlign = text.XRight, text.YTop
			if label.Rotation == upright {
				label.YAlign = text.YCenter
				extent = func(Tick) vg.Length { return label.Font.Size }
				ticks = thinned(ticks, place, extent)
			}
		}
	} else {
		ticks = thinned(ticks, place, extent)
	}
	a.Tick.Label = label
	marks := make(plot.ConstantTicks, len(ticks))
	for i, t := range ticks {
		marks[i] = plot.Tick{Value: t.Value, Label: t.Label}
	}
	a.Tick.Marker = marks
}

const upright = math.Pi / 2

// slant returns the least angle at which labels one step apart do not touch,
// upright if only that may help.
func slant(height, step vg.Length) float64 {
	for _, angle := range []float64{math.Pi / 6, math.Pi / 4, math.Pi / 3} {
		if float64(step)*math.Sin(angle) >= 1.2*float64(height) {
			return angle
		}
	}
	return upright
}

// ticks returns the axis' own ticks, or round ones.
func (ax Axis) ticks() []Tick {
	switch {
	case ax.Ticks != nil:
		return ax.Ticks
	case ax.Scale == Log:
		return logTicks(ax.Min, ax.Max, ax.Unit)
	}
	return linearTicks(ax.Max, ax.Unit, 6)
}

// thinned blanks the labels that would collide with one of a lower rank, or
// of the same rank and further left. The ticks themselves stay.
func thinned(ticks []Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) []Tick {
	order := slices.Clone(ticks)
	slices.SortStableFunc(order, func(a, b Tick) int { return cmp.Compare(a.Rank, b.Rank) })
	var kept []Tick
	shown := map[float64]bool{}
	for _, t := range order {
		if !slices.ContainsFunc(kept, func(k Tick) bool { return collide(t, k, place, extent) }) {
			kept = append(kept, t)
			shown[t.Value] = true
		}
	}
	out := slices.Clone(ticks)
	for i := range out {
		if !shown[out[i].Value] {
			out[i].Label = "" // gonum draws a shorter tick
		}
	}
	return out
}

func crowded(ticks []Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) bool {
	for i := 1; i < len(ticks); i++ {
		if collide(ticks[i-1], ticks[i], place, extent) {
			return true
		}
	}
	return false
}

func collide(a, b Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) bool {
	return vg.Length(math.Abs(float64(place(a.Value)-place(b.Value)))) < (extent(a)+extent(b))/2
}

// linearScale and logScale are plot.Normalizers. Unlike gonum's own log scale
// this one has no panic: charts hold positive values only where it is used.
type (
	linearScale struct{}
	logScale    struct{}
)

func (linearScale) Normalize(min, max, x float64) float64 { return (x - min) / (max - min) }

func (logScale) Normalize(min, max, x float64) float64 {
	return math.Log(x/min) / math.Log(max/min)
}
