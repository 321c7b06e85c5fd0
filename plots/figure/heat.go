package figure

import (
	"image/color"

	"matladder/internal/each"
	"matladder/internal/words"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A HeatMap is a table of coloured cells.
type HeatMap struct {
	Heading
	Color color.NRGBA // of the highest value
	Unit  Unit        // of the cells
	Most  float64
	X     Axis // of categories, one a column
	Rows  []HeatRow
}

// A HeatRow is a line of cells, one a column.
type HeatRow struct {
	Label     string
	Predicted bool
	Cells     []HeatCell
}

// A HeatCell is a value, or a word why there is none; both empty where nothing was tried.
type HeatCell struct {
	Value            float64
	Best             bool // of its column
	LowConfidence    bool // not to be relied on: † before the figure
	Status           string
	Footprint, Limit string // of a cell that needs more than there is: hatched
}

const (
	cellHeight = 30 * vg.Length(1)
	cellWidest = 110 * vg.Length(1)
)

var frameStyle = draw.LineStyle{Color: Ink, Width: 1.8}

func (h *HeatMap) key() key {
	least, needs := h.Most, false
	for _, row := range h.Rows {
		for _, cell := range row.Cells {
			if cell.Value > 0 {
				least = min(least, cell.Value)
			}
			needs = needs || cell.Footprint != ""
		}
	}
	k := key{
		{"slowest", Ink, boxSign(h.shade(least/h.Most), Solid)},
		{"fastest", Ink, boxSign(h.shade(1), Solid)},
		{"best of its column", Ink, func(c draw.Canvas, at vg.Point) { stroke(c, signBox(at), frameStyle) }},
	}
	if needs {
		k = append(k, keyEntry{"too big: what it needs, of what there is", Ink, func(c draw.Canvas, at vg.Point) { hatch(c, signBox(at)) }})
	}
	return k
}

// shade goes, by the share of the highest value, from nearly white to the colour and a little
// beyond, so that it darkens all the way in print too.
func (h *HeatMap) shade(share float64) color.NRGBA {
	return mix(mix(h.Color, Black, 0.25), White, 0.85*(1-share))
}

// hatch fills a box with slanted lines.
func hatch(c draw.Canvas, b vg.Rectangle) {
	fill(c, b, White)
	sty := draw.LineStyle{Color: leader, Width: 0.8}
	height := b.Max.Y - b.Min.Y
	for x := b.Min.X - height; x < b.Max.X; x += 5 {
		from, to := vg.Point{X: x, Y: b.Min.Y}, vg.Point{X: x + height, Y: b.Max.Y}
		if from.X < b.Min.X {
			from = vg.Point{X: b.Min.X, Y: b.Min.Y + (b.Min.X - x)}
		}
		if to.X > b.Max.X {
			to = vg.Point{X: b.Max.X, Y: b.Max.Y - (to.X - b.Max.X)}
		}
		if from.X < to.X {
			c.StrokeLine2(sty, from.X, from.Y, to.X, to.Y)
		}
	}
	stroke(c, b, sty)
}

func (h *HeatMap) lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (vg.Length, func()) {
	label := style(smallSize, Ink, text.XRight, text.YCenter)
	left := each.Most(h.Rows, func(row HeatRow) vg.Length { return label.Width(shorten(row.Label, label)) })
	top := page.Max.Y - head + textLine
	minX := page.Min.X + left + 12
	f := frame{x: h.X, box: box(minX, top-cellHeight*vg.Length(len(h.Rows)),
		min(page.Max.X, minX+vg.Length(len(h.X.Ticks))*cellWidest), top)}
	return f.height(c), func() {
		half := (f.X(1) - f.X(0)) / 2
		for i, row := range h.Rows {
			y := f.box.Max.Y - cellHeight*(vg.Length(i)+0.5)
			beside(c, label, f.box.Min.X-7, y, shorten(row.Label, label))
			for j, cell := range row.Cells {
				h.drawCell(c, cell, around(vg.Point{X: f.X(float64(j)), Y: y}, half-1.5, cellHeight/2-1.5), row.Predicted)
			}
		}
		f.drawX(c, true, 0)
	}
}

func (h *HeatMap) drawCell(c draw.Canvas, cell HeatCell, b vg.Rectangle, predicted bool) {
	sty := style(smallSize, Ink, text.XCenter, text.YCenter)
	at := middle(b)
	put := func(text string, dy vg.Length) {
		if width := sty.Width(text); width <= b.Max.X-b.Min.X {
			if cell.Footprint != "" { // over the hatching
				fill(c, around(vg.Point{X: at.X, Y: at.Y + dy}, width/2+2, 5.5), White)
			}
			beside(c, sty, at.X, at.Y+dy, text)
		}
	}
	switch {
	case cell.Footprint != "":
		hatch(c, b)
		if cell.Limit == "" {
			put(cell.Footprint, 0)
			return
		}
		put(cell.Footprint, 6)
		put("of "+cell.Limit, -6)
	case cell.Status != "":
		drawCross(c, vg.Point{X: at.X, Y: at.Y + 6}, SoftInk)
		put(cell.Status, -7)
	case cell.Value > 0:
		shade := h.shade(cell.Value / h.Most)
		fill(c, b, shade)
		if predicted {
			stroke(c, b, draw.LineStyle{Color: Ink, Width: 1, Dashes: []vg.Length{4, 2.5}})
		}
		if ContrastOnWhite(shade) >= 4.5 {
			sty.Color = White
		}
		if cell.Best {
			sty = bold(sty)
			stroke(c, b, frameStyle)
		}
		put(words.When(cell.LowConfidence, "†")+Digits(cell.Value/h.Unit.Value), 0)
	}
}
