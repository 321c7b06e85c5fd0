package figure

import (
	"cmp"
	"slices"

	"matladder/internal/each"
	"matladder/internal/words"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	labelGap    = 26 * vg.Length(1) // from the axes to the labels
	markerSpace = 12 * vg.Length(1)
)

// endLabels are the names of curves and roofs, written in the right margin at
// the height where each curve ends.
type endLabels struct {
	entries []endLabel
	leaders bool      // whether curves end at the right, so that a line to the label helps
	centres []float64 // of the entries in the margin, once placed
}

type endLabel struct {
	text   string
	style  text.Style
	series *Series // nil for a roof
	roof   Roof
}

// endLabels collects the names of the chart.
func (ch *Chart) endLabels() *endLabels {
	l := &endLabels{leaders: !ch.Slopes}
	add := func(e endLabel) {
		e.text = shorten(e.text, e.style)
		l.entries = append(l.entries, e)
	}
	sty := style(textSize, SoftInk, text.XLeft, text.YCenter)
	for _, r := range ch.Roofs {
		if r.Peak > 0 {
			add(endLabel{text: words.When(r.Peak > ch.Y.Max, "↑ ") + r.Label, style: sty, roof: r})
		}
	}
	for i := range ch.Series {
		s := &ch.Series[len(ch.Series)-1-i]
		sty := sty
		sty.Color = TextColor(s.Color)
		if s.Bold {
			sty = bold(sty)
		}
		if len(s.Points) > 0 { // else it is named in the strip of failures
			add(endLabel{text: s.Label, style: sty, series: s})
		}
	}
	return l
}

// width is what the labels need right of labelGap.
func (l *endLabels) width() vg.Length {
	return each.Most(l.entries, func(e endLabel) vg.Length { return e.style.Width(e.text) + markerSpace })
}

// fit reports whether all labels have room beside axes of the given height.
func (l *endLabels) fit(height vg.Length) bool {
	return textLine*vg.Length(len(l.entries)) <= height+textLine
}

// end is where an entry's curve ends.
func (e endLabel) end(f frame) vg.Point {
	if e.series != nil {
		last := e.series.Points[len(e.series.Points)-1]
		return vg.Point{X: f.X(last.X), Y: f.Y(last.Y)}
	}
	return vg.Point{X: f.box.Max.X, Y: f.Y(min(e.roof.Peak, f.y.Max))}
}

// place spreads the labels over the height of the axes, half a line more at either end.
func (l *endLabels) place(f frame) {
	height := float64(textLine)
	want := each.Of(l.entries, func(e endLabel) float64 { return float64(e.end(f).Y) })
	l.centres, _ = spread(want, slices.Repeat([]float64{height}, len(want)), float64(f.box.Min.Y)-height/2, float64(f.box.Max.Y)+height/2)
}

// drawLeaders joins the end of each curve with its label.
func (l *endLabels) drawLeaders(c draw.Canvas, f frame) {
	l.place(f)
	for i, e := range l.entries {
		if e.series != nil && (!l.leaders || e.series.Faint) {
			continue
		}
		sty := draw.LineStyle{Color: leader, Width: 0.8}
		inside, end := sty, e.end(f)
		if end.X < f.lastTick()-1 {
			inside.Dashes = dotted
		}
		c.StrokeLine2(inside, end.X, end.Y, f.box.Max.X, end.Y)
		at := vg.Length(l.centres[i])
		c.StrokeLines(sty, []vg.Point{{X: f.box.Max.X, Y: end.Y}, {X: f.box.Max.X + labelGap - 8, Y: at}, {X: f.box.Max.X + labelGap - 3, Y: at}})
	}
}

func (l *endLabels) draw(c draw.Canvas, f frame) {
	for i, e := range l.entries {
		e.draw(c, vg.Point{X: f.box.Max.X + labelGap, Y: vg.Length(l.centres[i])})
	}
}

// draw writes the entry with its marker from at to the right.
func (e endLabel) draw(c draw.Canvas, at vg.Point) {
	if e.series != nil {
		e.series.drawMarker(c, vg.Point{X: at.X + 4, Y: at.Y}, false)
	} else {
		line := e.roof.style()
		line.Dashes = nil
		if e.roof.Other {
			line.Color = leader
		}
		c.StrokeLine2(line, at.X-1, at.Y, at.X+9, at.Y)
	}
	beside(c, e.style, at.X+markerSpace, at.Y, e.text)
}

// A legend is what names the curves where labels at their ends do not fit.
type legend struct {
	labels        *endLabels
	columns, rows int
}

func newLegend(page vg.Rectangle, l *endLabels) legend {
	n := len(l.entries)
	columns := max(1, min(n, int(page.Size().X/(l.width()+14))))
	return legend{l, columns, (n + columns - 1) / columns}
}

func (g legend) height() vg.Length { return vg.Length(g.rows)*textLine + 8 }

// draw writes the legend at the foot of the page, column by column.
func (g legend) draw(c draw.Canvas, page vg.Rectangle) {
	step := page.Size().X / vg.Length(g.columns)
	for i, e := range g.labels.entries {
		column, row := i/g.rows, i%g.rows
		e.draw(c, vg.Point{X: page.Min.X + vg.Length(column)*step, Y: page.Min.Y + (vg.Length(g.rows-1-row)+0.5)*textLine})
	}
}

// spread moves intervals of the given heights, wanted with their centres at want, so that none
// overlap and all lie within lo..hi, each moved as little as the others allow (least squares:
// neighbours that collide are merged into a block that is placed at the mean of what its members
// want). It returns the centres in the order of want, and false if the heights do not fit.
func spread(want, height []float64, lo, hi float64) ([]float64, bool) {
	type block struct {
		first, last int     // in order
		height      float64 // of all members
		sum         float64 // of where each member would have the block's bottom
	}
	order := make([]int, len(want))
	total := 0.0
	for i := range order {
		order[i] = i
		total += height[i]
	}
	if total > hi-lo {
		return nil, false
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(want[i], want[j]), j-i) // of equals the first is highest
	})
	bottom := func(b block) float64 {
		place := b.sum / float64(b.last-b.first+1)
		return max(lo, min(hi-b.height, place))
	}
	var blocks []block
	for at, i := range order {
		blocks = append(blocks, block{at, at, height[i], want[i] - height[i]/2})
		for n := len(blocks); n > 1; n = len(blocks) {
			under, over := blocks[n-2], blocks[n-1]
			if bottom(under)+under.height <= bottom(over) {
				break
			}
			members := float64(over.last - over.first + 1)
			blocks = append(blocks[:n-2], block{
				under.first, over.last, under.height + over.height,
				under.sum + over.sum - members*under.height,
			})
		}
	}
	centre := make([]float64, len(want))
	for _, b := range blocks {
		y := bottom(b)
		for _, i := range order[b.first : b.last+1] {
			centre[i] = y + height[i]/2
			y += height[i]
		}
	}
	return centre, true
}
