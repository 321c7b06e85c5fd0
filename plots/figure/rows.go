package figure

import (
	"image/color"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	return each.Of(r.Series, Series.entry)
}

func (r *Rows) lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (vg.Length, func()) {
	left := each.Most(r.Rows, func(row Row) vg.Length { return tickStyle.Width(shorten(row.Label, tickStyle)) })
	right := each.Most(r.Rows, func(row Row) vg.Length { return bold(tickStyle).Width(row.Text) })
	top := page.Max.Y - head + textLine
	f := frame{x: r.X, box: box(page.Min.X+left+14, top-rowHeight*vg.Length(len(r.Rows))-6, page.Max.X-right-14, top)}
	return f.height(c), func() {
		if r.Band[1] > r.Band[0] {
			fill(c, box(f.X(max(r.Band[0], r.X.Min)), f.box.Min.Y, f.X(min(r.Band[1], r.X.Max)), f.box.Max.Y), gridLine)
		}
		f.drawXGrid(c)
		if r.Mark > r.X.Min && r.Mark < r.X.Max {
			c.StrokeLine2(markStyle, f.X(r.Mark), f.box.Min.Y, f.X(r.Mark), f.box.Max.Y)
		}
		for i, row := range r.Rows {
			r.drawRow(c, f, row, f.box.Max.Y-rowHeight*(vg.Length(i)+0.5))
		}
		f.drawX(c, true, 0)
	}
}

func (r *Rows) drawRow(c draw.Canvas, f frame, row Row, y vg.Length) {
	label := style(smallSize, row.Color, text.XRight, text.YCenter)
	beside(c, label, f.box.Min.X-8, y, shorten(row.Label, label))
	words := style(smallSize, Ink, text.XLeft, text.YCenter)
	if row.Strong {
		words = bold(words)
	}
	beside(c, words, f.box.Max.X+10, y, row.Text)
	if xs := each.Of(row.Points, func(pt RowPoint) float64 { return pt.X }); len(xs) > 1 {
		c.StrokeLine2(draw.LineStyle{Color: leader, Width: 0.8}, f.X(slices.Min(xs)), y, f.X(slices.Max(xs)), y)
	}
	for _, pt := range row.Points {
		if pt.Hi > pt.Lo {
			c.StrokeLine2(draw.LineStyle{Color: r.Series[pt.Series].Color, Width: 1.8}, f.X(max(pt.Lo, r.X.Min)), y, f.X(min(pt.Hi, r.X.Max)), y)
		}
	}
	for _, pt := range row.Points {
		r.Series[pt.Series].drawMarker(c, vg.Point{X: f.X(r.X.clamp(pt.X)), Y: y}, false)
	}
}
