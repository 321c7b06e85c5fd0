package plots

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// endLabels are the names of curves and roofs, written in the right margin at
// the height where each curve ends.
type endLabels struct {
	entries []endLabel
	style   text.Style
	leaders bool      // whether curves end at the right, so that a line to the label helps
	centres []float64 // of the entries in the margin, once placed
}

type endLabel struct {
	text   string
	color  color.NRGBA
	bold   bool
	series *Series // nil for a roof
	roof   *Roof
}

const (
	labelGap    = 26 * vg.Length(1) // from the axes to the labels
	markerSpace = 12 * vg.Length(1)
	widestLabel = pageWidth * 0.34
)

// endLabels collects the names of the chart.
func (ch *Chart) endLabels() *endLabels {
	l := &endLabels{leaders: ch.Kind != Roofline, style: aligned(style(textSize, ink), text.XLeft, text.YCenter)}
	for i := range ch.Roofs {
		if r := &ch.Roofs[i]; r.Peak > 0 {
			name := r.Label
			if r.Peak > ch.Y.Max {
				name = "↑ " + name
			}
			l.entries = append(l.entries, endLabel{text: name, color: softInk, roof: r})
		}
	}
	for i := len(ch.Series) - 1; i >= 0; i-- {
		s := &ch.Series[i]
		if len(s.Points) == 0 {
			continue // named in the strip of failures
		}
		l.entries = append(l.entries, endLabel{text: s.Label, color: textColor(s.color()), bold: s.Bold, series: s})
	}
	for i := range l.entries {
		l.entries[i].text = shorten(l.entries[i].text, l.styleOf(l.entries[i]))
	}
	return l
}

func (l *endLabels) styleOf(e endLabel) text.Style {
	sty := l.style
	sty.Color = e.color
	if e.bold {
		sty = bold(sty)
	}
	return sty
}

// shorten cuts a name that would take the page from the curves.
func shorten(name string, sty text.Style) string {
	if sty.Width(name) <= widestLabel {
		return name
	}
	runes := []rune(name)
	for len(runes) > 1 && sty.Width(string(runes)+"…") > widestLabel {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// width is what the labels need right of labelGap.
func (l *endLabels) width() vg.Length {
	var w vg.Length
	for _, e := range l.entries {
		w = max(w, l.styleOf(e).Width(e.text)+markerSpace)
	}
	return w
}

// fit reports whether all labels have room beside axes of the given height.
func (l *endLabels) fit(height vg.Length) bool {
	line := lineHeight(l.style)
	return line*vg.Length(len(l.entries)) <= height+line
}

// end is where an entry's curve ends.
func (e endLabel) end(f frame) vg.Point {
	if e.series != nil {
		last := e.series.Points[len(e.series.Points)-1]
		return vg.Point{X: f.X(last.X), Y: f.Y(last.Y)}
	}
	return vg.Point{X: f.box.Max.X, Y: f.Y(min(e.roof.Peak, f.y.Max))}
}

// place spreads the labels over the height of the axes, half a line more at
// either end.
func (l *endLabels) place(f frame) {
	height := float64(lineHeight(l.style))
	want := make([]float64, len(l.entries))
	heights := make([]float64, len(l.entries))
	for i, e := range l.entries {
		want[i], heights[i] = float64(e.end(f).Y), height
	}
	l.centres, _ = spread(want, heights, float64(f.box.Min.Y)-height/2, float64(f.box.Max.Y)+height/2)
}

// drawLeaders joins the end of each curve with its label.
func (l *endLabels) drawLeaders(c draw.Canvas, f frame) {
	l.place(f)
	sty := draw.LineStyle{Color: leader, Width: 0.8}
	inside := draw.LineStyle{Color: leader, Width: 0.8, Dashes: []vg.Length{1.5, 3}}
	for i, e := range l.entries {
		if !l.leaders && e.roof == nil {
			continue
		}
		end := e.end(f)
		if end.X < f.lastTick()-1 {
			c.StrokeLine2(inside, end.X, end.Y, f.box.Max.X, end.Y)
		} else {
			c.StrokeLine2(sty, end.X, end.Y, f.box.Max.X, end.Y)
		}
		at := vg.Length(l.centres[i])
		c.StrokeLines(sty, []vg.Point{{X: f.box.Max.X, Y: end.Y}, {X: f.box.Max.X + labelGap - 8, Y: at}, {X: f.box.Max.X + labelGap - 3, Y: at}})
	}
}

func (l *endLabels) draw(c draw.Canvas, f frame) {
	for i, e := range l.entries {
		at := vg.Point{X: f.box.Max.X + labelGap, Y: vg.Length(l.centres[i])}
		e.draw(c, at, l.styleOf(e))
	}
}

// draw writes the entry with its marker from at to the right.
func (e endLabel) draw(c draw.Canvas, at vg.Point, sty text.Style) {
	if e.series != nil {
		e.series.drawMarker(&c, vg.Point{X: at.X + 4, Y: at.Y})
	} else {
		line := roofStyle(*e.roof)
		line.Dashes = nil
		if e.roof.Other {
			line.Color = leader
		}
		c.StrokeLine2(line, at.X-1, at.Y, at.X+9, at.Y)
	}
	c.FillText(sty, vg.Point{X: at.X + markerSpace, Y: at.Y + sty.Font.Size*0.1}, e.text)
}

// A legend is what names the curves where labels at their ends do not fit.
type legend struct {
	labels  *endLabels
	columns int
	rows    int
}

func newLegend(page draw.Canvas, l *endLabels) legend {
	n := len(l.entries)
	columns := max(1, min(n, int(page.Size().X/(l.width()+14))))
	return legend{l, columns, (n + columns - 1) / columns}
}

func (g legend) height() vg.Length {
	return vg.Length(g.rows)*lineHeight(g.labels.style) + 8
}

// draw writes the legend at the foot of the page, column by column.
func (g legend) draw(page draw.Canvas) {
	step := page.Size().X / vg.Length(g.columns)
	for i, e := range g.labels.entries {
		column, row := i/g.rows, i%g.rows
		at := vg.Point{
			X: page.Min.X + vg.Length(column)*step,
			Y: page.Min.Y + (vg.Length(g.rows-1-row)+0.5)*lineHeight(g.labels.style),
		}
		e.draw(page, at, g.labels.styleOf(e))
	}
}
