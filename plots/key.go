package plots

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A key names the looks of a picture, in lines from left to right.
type key []keyEntry

type keyEntry struct {
	text  string
	color color.NRGBA // of the text
	sign  func(c draw.Canvas, at vg.Point)
}

const (
	signWidth = 16
	keyGap    = 16
)

var keyStyle = aligned(style(textSize, ink), text.XLeft, text.YCenter)

// rows breaks the key into lines no wider than width.
func (k key) rows(width vg.Length) [][]keyEntry {
	var rows [][]keyEntry
	at := width
	for _, e := range k {
		need := signWidth + keyStyle.Width(e.text) + keyGap
		if at+need-keyGap > width || rows == nil {
			rows, at = append(rows, nil), 0
		}
		at += need
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
	}
	return rows
}

func (k key) height(width vg.Length) vg.Length {
	return vg.Length(len(k.rows(width))) * lineHeight(keyStyle)
}

// draw writes the key from the top left corner at down.
func (k key) draw(c draw.Canvas, at vg.Point, width vg.Length) {
	y := at.Y - lineHeight(keyStyle)/2
	for _, row := range k.rows(width) {
		x := at.X
		for _, e := range row {
			e.sign(c, vg.Point{X: x + signWidth/2 - 3, Y: y})
			sty := keyStyle
			sty.Color = e.color
			c.FillText(sty, vg.Point{X: x + signWidth, Y: y + sty.Font.Size*0.1}, e.text)
			x += signWidth + sty.Width(e.text) + keyGap
		}
		y -= lineHeight(keyStyle)
	}
}

// fillBox fills the box in the colour of a kernel; what is predicted is hollow
// with a dashed rim, or a dashed line where there is no room for a rim.
func fillBox(c draw.Canvas, b vg.Rectangle, col color.NRGBA, predicted bool) {
	if !predicted {
		c.SetColor(col)
		c.Fill(b.Path())
		return
	}
	const rim = 1.6
	if size := b.Size(); min(size.X, size.Y) <= 2.5*rim {
		line := draw.LineStyle{Color: col, Width: max(min(size.X, size.Y), 0.8), Dashes: []vg.Length{4, 2.5}}
		if at := middle(b); size.X < size.Y {
			c.StrokeLine2(line, at.X, b.Min.Y, at.X, b.Max.Y)
		} else {
			c.StrokeLine2(line, b.Min.X, at.Y, b.Max.X, at.Y)
		}
		return
	}
	inner := vg.Rectangle{Min: b.Min.Add(vg.Point{X: rim / 2, Y: rim / 2}), Max: b.Max.Sub(vg.Point{X: rim / 2, Y: rim / 2})}
	c.SetColor(white)
	c.Fill(b.Path())
	sty := draw.LineStyle{Color: col, Width: rim, Dashes: []vg.Length{4, 2.5}}
	corners := []vg.Point{inner.Min, {X: inner.Min.X, Y: inner.Max.Y}, inner.Max, {X: inner.Max.X, Y: inner.Min.Y}, inner.Min}
	c.StrokeLines(sty, corners)
}

// boxSign is a filled box in a key.
func boxSign(col color.NRGBA, predicted bool) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) { fillBox(c, around(at, 6, 4.5), col, predicted) }
}

// lineSign is a line in a key.
func lineSign(sty draw.LineStyle) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) { c.StrokeLine2(sty, at.X-7, at.Y, at.X+7, at.Y) }
}

// markerSign is the marker of a series in a key.
func markerSign(s Series) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) { s.drawMarker(&c, at) }
}
