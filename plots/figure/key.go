package figure

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

var keyStyle = style(textSize, Ink, text.XLeft, text.YCenter)

// rows breaks the key into lines no wider than width.
func (k key) rows(width vg.Length) (rows [][]keyEntry) {
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

// draw writes the key from the top left corner at down.
func (k key) draw(c draw.Canvas, at vg.Point, width vg.Length) {
	y := at.Y - lineHeight(keyStyle)/2
	for _, row := range k.rows(width) {
		x := at.X
		for _, e := range row {
			e.sign(c, vg.Point{X: x + signWidth/2 - 3, Y: y})
			sty := keyStyle
			sty.Color = e.color
			beside(c, sty, x+signWidth, y, e.text)
			x += signWidth + sty.Width(e.text) + keyGap
		}
		y -= lineHeight(keyStyle)
	}
}

// A Fill is how a box is filled.
type Fill int

// The fills.
const (
	Solid  Fill = iota
	Pale        // what lies behind a solid part
	Hollow      // with a dashed rim: predicted, or of low confidence
)

// hollowIf is the fill of what may be predicted.
func hollowIf(predicted bool) Fill {
	if predicted {
		return Hollow
	}
	return Solid
}

// dashed is how lines of what is predicted are drawn, dotted those that lead the eye.
var (
	dashed = []vg.Length{5, 4}
	dotted = []vg.Length{1.5, 3}
)

// fill fills the box with a colour.
func fill(c draw.Canvas, b vg.Rectangle, col color.Color) {
	c.SetColor(col)
	c.Fill(b.Path())
}

// draw fills the box in a look of the colour: a dashed line stands for a dashed rim where
// there is no room for one.
func (f Fill) draw(c draw.Canvas, b vg.Rectangle, col color.NRGBA) {
	const rim = 1.6
	size, dashes := b.Size(), []vg.Length{4, 2.5}
	switch {
	case f == Pale:
		col.A = 0x50
		fallthrough
	case f == Solid:
		fill(c, b, col)
	case min(size.X, size.Y) <= 2.5*rim:
		line := draw.LineStyle{Color: col, Width: max(min(size.X, size.Y), 0.8), Dashes: dashes}
		if at := middle(b); size.X < size.Y {
			c.StrokeLine2(line, at.X, b.Min.Y, at.X, b.Max.Y)
		} else {
			c.StrokeLine2(line, b.Min.X, at.Y, b.Max.X, at.Y)
		}
	default:
		fill(c, b, White)
		stroke(c, grown(b, -rim/2), draw.LineStyle{Color: col, Width: rim, Dashes: dashes})
	}
}

// stroke draws the edges of the box.
func stroke(c draw.Canvas, b vg.Rectangle, sty draw.LineStyle) {
	c.StrokeLines(sty, []vg.Point{b.Min, {X: b.Min.X, Y: b.Max.Y}, b.Max, {X: b.Max.X, Y: b.Min.Y}, b.Min})
}

// signBox is the place of a box in a key.
func signBox(at vg.Point) vg.Rectangle { return around(at, 6, 4.5) }

// boxSign is a filled box in a key.
func boxSign(col color.NRGBA, f Fill) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) { f.draw(c, signBox(at), col) }
}

// lineSign is a line in a key.
func lineSign(sty draw.LineStyle) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) { c.StrokeLine2(sty, at.X-7, at.Y, at.X+7, at.Y) }
}
