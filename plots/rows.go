package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Rows are a line of text each with values on one horizontal axis.
type Rows struct {
	Heading
	X      Axis
	Series []Series // looks of the points; named in a key where there are several
	Rows   []Row
	Mark   float64    // a line from top to bottom, 0 for none
	Band   [2]float64 // what does not matter round Mark
}

// A Row is a name, its points, and words to the right.
type Row struct {
	Label  string
	Color  color.NRGBA // of the label
	Points []RowPoint
	Text   string
	Strong bool // the text matters
}

// A RowPoint is a value of a series with its interval.
type RowPoint struct {
	Series    int
	X, Lo, Hi float64
}

const rowHeight = 17 * vg.Length(1)

func (r *Rows) key() key {
	if len(r.Series) < 2 {
		return nil
	}
	var k key
	for _, s := range r.Series {
		k = append(k, keyEntry{s.Label, textColor(s.color()), markerSign(s)})
	}
	return k
}

// head draws the heading and the key, and returns the height they took.
func (r *Rows) head(c draw.Canvas, page vg.Rectangle) vg.Length {
	return headAndKey(&r.Heading, r.key(), c, page)
}

// headAndKey draws a heading and a key under it, and returns the height they
// took, with room for the name of a y axis.
func headAndKey(h *Heading, k key, c draw.Canvas, page vg.Rectangle) vg.Length {
	took := h.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: page})
	if len(k) == 0 {
		return took
	}
	line := lineHeight(style(textSize, ink)) + 6 // kept by the heading for the name of the y axis
	width := page.Max.X - page.Min.X
	k.draw(c, vg.Point{X: page.Min.X, Y: page.Max.Y - took + line - 4}, width)
	return took + k.height(width) + 6
}

// frame is the place of the axis under a heading of the given height.
func (r *Rows) frame(page vg.Rectangle, head vg.Length) frame {
	var left, right vg.Length
	for _, row := range r.Rows {
		left = max(left, tickStyle.Width(shorten(row.Label, tickStyle)))
		right = max(right, bold(tickStyle).Width(row.Text))
	}
	top := page.Max.Y - head + lineHeight(style(textSize, ink))
	return frame{x: r.X, box: vg.Rectangle{
		Min: vg.Point{X: page.Min.X + left + 14, Y: top - rowHeight*vg.Length(len(r.Rows)) - 6},
		Max: vg.Point{X: page.Max.X - right - 14, Y: top},
	}}
}

// Size returns the size of the page.
func (r *Rows) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	page := inset(ruler.Rectangle)
	f := r.frame(page, r.head(ruler, page))
	return pageWidth, pageHeight - f.box.Min.Y + f.xHeight() + lineHeight(style(textSize, ink)) + margin
}

// Draw draws the rows on canvas.
func (r *Rows) Draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	page := inset(c.Rectangle)
	f := r.frame(page, r.head(c, page))
	if r.Band[1] > r.Band[0] {
		c.SetColor(gridLine)
		c.Fill(vg.Rectangle{Min: vg.Point{X: f.X(max(r.Band[0], r.X.Min)), Y: f.box.Min.Y}, Max: vg.Point{X: f.X(min(r.Band[1], r.X.Max)), Y: f.box.Max.Y}}.Path())
	}
	f.drawXGrid(c)
	if r.Mark > r.X.Min && r.Mark < r.X.Max {
		c.StrokeLine2(draw.LineStyle{Color: softInk, Width: 1.2, Dashes: []vg.Length{12, 3, 2, 3}}, f.X(r.Mark), f.box.Min.Y, f.X(r.Mark), f.box.Max.Y)
	}
	for i, row := range r.Rows {
		r.drawRow(c, f, row, f.box.Max.Y-rowHeight*(vg.Length(i)+0.5))
	}
	f.drawX(c, true)
	f.drawXName(c, 0)
}

func (r *Rows) drawRow(c draw.Canvas, f frame, row Row, y vg.Length) {
	label := aligned(tickStyle, text.XRight, text.YCenter)
	label.Color = row.Color
	c.FillText(label, vg.Point{X: f.box.Min.X - 8, Y: y + label.Font.Size*0.1}, shorten(row.Label, label))
	words := aligned(tickStyle, text.XLeft, text.YCenter)
	if row.Strong {
		words = bold(words)
	}
	c.FillText(words, vg.Point{X: f.box.Max.X + 10, Y: y + words.Font.Size*0.1}, row.Text)
	least, most := math.Inf(1), math.Inf(-1)
	for _, pt := range row.Points {
		least, most = math.Min(least, pt.X), math.Max(most, pt.X)
	}
	if len(row.Points) > 1 {
		c.StrokeLine2(draw.LineStyle{Color: leader, Width: 0.8}, f.X(least), y, f.X(most), y)
	}
	for _, pt := range row.Points {
		s := r.Series[pt.Series]
		if pt.Hi > pt.Lo {
			c.StrokeLine2(draw.LineStyle{Color: s.color(), Width: 1.8},
				f.X(math.Max(pt.Lo, r.X.Min)), y, f.X(math.Min(pt.Hi, r.X.Max)), y)
		}
	}
	for _, pt := range row.Points {
		r.Series[pt.Series].drawMarker(&c, vg.Point{X: f.X(math.Max(r.X.Min, math.Min(r.X.Max, pt.X))), Y: y})
	}
}

// between returns an axis with round ticks over a range that need not start at 0.
func between(label string, least, most float64, u Unit) Axis {
	ax := Axis{Label: label, Min: least, Max: most, Unit: u}
	span := linearTicks(most-least, u, 8)
	if len(span) < 2 {
		return ax
	}
	step := span[1].Value
	for i := math.Ceil(least / step); i*step <= most*(1+1e-9); i++ {
		ax.Ticks = append(ax.Ticks, Tick{Value: i * step, Label: digits(i * step / u.Value)})
	}
	return ax
}
