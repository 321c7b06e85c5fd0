package plots

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// A HeatMap is a table of coloured cells.
type HeatMap struct {
	Heading
	Kernel  string // fixes the colour
	Unit    Unit   // of the cells
	Most    float64
	Columns []string
	X       string // name of the columns
	Rows    []HeatRow
}

// A HeatRow is a line of cells, one a column.
type HeatRow struct {
	Label     string
	Predicted bool
	Cells     []HeatCell
}

// A HeatCell is a value, or a word why there is none; both empty where nothing
// was tried.
type HeatCell struct {
	Value       float64
	Best        bool // of its column
	Rough       bool // not to be relied on: ~ before the figure
	Status      string
	Need, Limit string // of a cell too big for fast memory
}

const (
	cellHeight = 30 * vg.Length(1)
	cellWidest = 110 * vg.Length(1)
)

func (h *HeatMap) key() key {
	col := kernelColor(h.Kernel)
	k := key{
		{"slowest", ink, boxSign(heatColor(col, h.least()/h.Most), false)},
		{"fastest", ink, boxSign(heatColor(col, 1), false)},
		{"best of its column", ink, func(c draw.Canvas, at vg.Point) { strokeBox(c, around(at, 6, 4.5), ink, 1.8) }},
	}
	for _, row := range h.Rows {
		for _, cell := range row.Cells {
			if cell.Need != "" {
				return append(k, keyEntry{"too big: what it needs, of what there is", ink, func(c draw.Canvas, at vg.Point) { hatch(c, around(at, 6, 4.5)) }})
			}
		}
	}
	return k
}

// least is the smallest value of all cells.
func (h *HeatMap) least() float64 {
	least := h.Most
	for _, row := range h.Rows {
		for _, cell := range row.Cells {
			if cell.Value > 0 {
				least = min(least, cell.Value)
			}
		}
	}
	return least
}

// heatColor goes from nearly white to the kernel's own colour and a little
// beyond, so that it darkens all the way in print too.
func heatColor(col color.NRGBA, share float64) color.NRGBA {
	return mix(mix(col, black, 0.25), white, 0.85*(1-share))
}

func strokeBox(c draw.Canvas, b vg.Rectangle, col color.Color, width vg.Length) {
	c.StrokeLines(draw.LineStyle{Color: col, Width: width},
		[]vg.Point{b.Min, {X: b.Min.X, Y: b.Max.Y}, b.Max, {X: b.Max.X, Y: b.Min.Y}, b.Min})
}

// hatch fills a box with slanted lines.
func hatch(c draw.Canvas, b vg.Rectangle) {
	c.SetColor(white)
	c.Fill(b.Path())
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
	strokeBox(c, b, leader, 0.8)
}

// frame is the place of the cells; its x axis has the names of the columns.
func (h *HeatMap) frame(page vg.Rectangle, head vg.Length) frame {
	var left vg.Length
	for _, row := range h.Rows {
		left = max(left, tickStyle.Width(shorten(row.Label, tickStyle)))
	}
	n := vg.Length(len(h.Columns))
	ax := Axis{Label: h.X, Scale: Category, Min: -0.5, Max: float64(len(h.Columns)) - 0.5}
	for i, name := range h.Columns {
		ax.Ticks = append(ax.Ticks, Tick{Value: float64(i), Label: name})
	}
	top := page.Max.Y - head + lineHeight(style(textSize, ink))
	minX := page.Min.X + left + 12
	return frame{x: ax, box: vg.Rectangle{
		Min: vg.Point{X: minX, Y: top - cellHeight*vg.Length(len(h.Rows))},
		Max: vg.Point{X: min(page.Max.X, minX+n*cellWidest), Y: top},
	}}
}

// Size returns the size of the page.
func (h *HeatMap) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	page := inset(ruler.Rectangle)
	f := h.frame(page, headAndKey(&h.Heading, h.key(), ruler, page))
	return pageWidth, pageHeight - f.box.Min.Y + f.xHeight() + lineHeight(style(textSize, ink)) + margin
}

// Draw draws the cells on canvas.
func (h *HeatMap) Draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	page := inset(c.Rectangle)
	f := h.frame(page, headAndKey(&h.Heading, h.key(), c, page))
	label := aligned(tickStyle, text.XRight, text.YCenter)
	half := (f.X(1) - f.X(0)) / 2
	for i, row := range h.Rows {
		y := f.box.Max.Y - cellHeight*(vg.Length(i)+0.5)
		c.FillText(label, vg.Point{X: f.box.Min.X - 7, Y: y + label.Font.Size*0.1}, shorten(row.Label, label))
		for j, cell := range row.Cells {
			h.drawCell(c, cell, around(vg.Point{X: f.X(float64(j)), Y: y}, half-1.5, cellHeight/2-1.5), row.Predicted)
		}
	}
	f.drawX(c, true)
	f.drawXName(c, 0)
}

func (h *HeatMap) drawCell(c draw.Canvas, cell HeatCell, b vg.Rectangle, predicted bool) {
	sty := aligned(tickStyle, text.XCenter, text.YCenter)
	at := middle(b)
	write := func(words string, dy vg.Length) {
		if width := sty.Width(words); width <= b.Max.X-b.Min.X {
			if cell.Need != "" { // over the hatching
				c.SetColor(white)
				c.Fill(around(vg.Point{X: at.X, Y: at.Y + dy}, width/2+2, 5.5).Path())
			}
			c.FillText(sty, vg.Point{X: at.X, Y: at.Y + dy + sty.Font.Size*0.1}, words)
		}
	}
	switch {
	case cell.Need != "":
		hatch(c, b)
		if cell.Limit == "" {
			write(cell.Need, 0)
			return
		}
		write(cell.Need, 6)
		write("of "+cell.Limit, -6)
	case cell.Status != "":
		drawCross(c, vg.Point{X: at.X, Y: at.Y + 6}, softInk)
		write(cell.Status, -7)
	case cell.Value > 0:
		fill := heatColor(kernelColor(h.Kernel), cell.Value/h.Most)
		c.SetColor(fill)
		c.Fill(b.Path())
		if predicted {
			c.StrokeLines(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{4, 2.5}},
				[]vg.Point{b.Min, {X: b.Min.X, Y: b.Max.Y}, b.Max, {X: b.Max.X, Y: b.Min.Y}, b.Min})
		}
		if contrastOnWhite(fill) >= 4.5 {
			sty.Color = white
		}
		if cell.Best {
			sty = bold(sty)
			strokeBox(c, b, ink, 1.8)
		}
		figure := digits(cell.Value / h.Unit.Value)
		if cell.Rough {
			figure = "~" + figure
		}
		write(figure, 0)
	}
}
