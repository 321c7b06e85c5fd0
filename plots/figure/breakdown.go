package figure

import (
	"image/color"

	"matladder/internal/each"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Breakdowns are wholes one below the other, each with a bar for each of its parts.
type Breakdowns struct {
	Heading
	Wholes []Whole
	Beside bool     // titles stand beside the bars, and each whole has a scale of its own; else above, and all share one
	Room   []string // names that parts may have: the bars begin right of them
	Heads  []string // of the columns of cells, right of all bars
	Key    []KeyBox
}

// A Whole is what is divided.
type Whole struct {
	Title, About string // About stands under the title
	Color        color.NRGBA
	Parts        []Part
}

// A Part is a row: bars that lie on each other, words right of the first, and a cell for each of
// the Heads.
type Part struct {
	Name  string
	Spans []Span
	Words string
	Cells []string
}

// A Span is a bar.
type Span struct {
	From, Length float64
	Color        color.NRGBA
	Fill         Fill
}

// A KeyBox says what the fill of a colour means.
type KeyBox struct {
	Label string
	Color color.NRGBA
	Fill  Fill
}

func (b *Breakdowns) key() key {
	return each.Of(b.Key, func(e KeyBox) keyEntry { return keyEntry{e.Label, TextColor(e.Color), boxSign(e.Color, e.Fill)} })
}

// longest is where the bars end.
func (w Whole) longest() float64 {
	return each.Most(w.Parts, func(p Part) float64 {
		return each.Most(p.Spans, func(s Span) float64 { return s.From + s.Length })
	})
}

func (b *Breakdowns) lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (vg.Length, func()) {
	row, half, gap, lift, above := rowHeight, 5.5*vg.Length(1), 6*vg.Length(1), vg.Length(0), 1
	if b.Beside {
		row, half, gap, lift, above = 15, 5, 7, 14, 0
	}
	title := bold(style(smallSize, Ink, text.XLeft, text.YTop))
	var titles, words vg.Length
	widths := each.Of(b.Heads, func(head string) vg.Length { return tickStyle.Width(head) + columnGap })
	height, most := head, 0.0
	names := each.Most(b.Room, tickStyle.Width)
	for _, w := range b.Wholes {
		height += row*vg.Length(len(w.Parts)+above) + 2*gap
		titles = max(titles, title.Width(w.Title)+14, tickStyle.Width(w.About)+14)
		most = max(most, w.longest())
		for _, p := range w.Parts {
			names = max(names, tickStyle.Width(shorten(p.Name, tickStyle)))
			words = max(words, tickStyle.Width(p.Words)+8)
			for i, cell := range p.Cells {
				widths[i] = max(widths[i], tickStyle.Width(cell)+columnGap)
			}
		}
	}
	if b.Heads != nil {
		words = each.Sum(widths, func(w vg.Length) vg.Length { return w })
	}
	if b.Beside {
		words = tickStyle.Width("0.0000 ns ") + 6
	} else {
		titles = 0
	}
	left := page.Min.X + titles + names + 10
	return height + 2*margin, func() {
		y := page.Max.Y - head + lift
		for _, w := range b.Wholes {
			c.StrokeLine2(gridStyle, page.Min.X, y, page.Max.X, y)
			y -= gap
			title.Color = w.Color
			if b.Beside {
				most = w.longest()
				write(c, title, page.Min.X, y-2, w.Title)
				write(c, style(smallSize, Ink, text.XLeft, text.YTop), page.Min.X, y-2-lineHeight(title), w.About)
			} else {
				title.YAlign = text.YCenter
				write(c, title, page.Min.X, y-row/2, w.Title)
				columns(c, page.Max.X, y-row/2, b.Heads, widths, SoftInk)
			}
			scale := (page.Max.X - left - words) / vg.Length(most)
			for i, p := range w.Parts {
				at := y - row*(vg.Length(i+above)+0.5)
				p.draw(c, left, at, scale, half)
				columns(c, page.Max.X, at, p.Cells, widths, Ink)
			}
			y -= row*vg.Length(len(w.Parts)+above) + gap
		}
	}
}

const columnGap = 18 * vg.Length(1)

// columns writes cells of these widths, which end at right.
func columns(c draw.Canvas, right, y vg.Length, cells []string, widths []vg.Length, col color.Color) {
	for _, w := range widths[min(1, len(widths)):] {
		right -= w
	}
	for i, cell := range cells {
		if i > 0 {
			right += widths[i]
		}
		beside(c, style(smallSize, col, text.XRight, text.YCenter), right, y, cell)
	}
}

// draw draws the part with its bars from left on, each as long as scale times its length.
func (p Part) draw(c draw.Canvas, left, y, scale, half vg.Length) {
	name := style(smallSize, Ink, text.XRight, text.YCenter)
	beside(c, name, left-6, y, shorten(p.Name, name))
	end := left
	for i, s := range p.Spans {
		x0, x1 := left+scale*vg.Length(s.From), left+scale*vg.Length(s.From+s.Length)
		if i == 0 {
			x1 = max(x1, x0+1)
			end = x1
		}
		s.Fill.draw(c, box(x0, y-half, x1, y+half), s.Color)
	}
	beside(c, style(smallSize, Ink, text.XLeft, text.YCenter), end+half+0.5*(2*half-10), y, p.Words)
}
