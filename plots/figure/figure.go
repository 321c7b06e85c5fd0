// Package figure draws pages of data with gonum/plot: curves, bars, cells and rows, with
// their axes, names and keys. It knows no results and no kernels: colors, labels and
// units are its caller's.
//
//  1. A Picture is the page as data: a Chart of curves with their names at their right end,
//     Panels of curves side by side, Bars in groups, a HeatMap of cells, Rows of points on one
//     axis, or Breakdowns of wholes into bars. It can be tested without being drawn.
//  2. Size lays a picture out, Draw draws it: the heading, the key under it, then the rest.
//     No text lies on a curve.
//  3. Write and Save make a PNG or SVG file of it, whole or not at all.
//
// What is Predicted is dashed, with hollow markers; what is LowConfidence is hollow and stretches no axis.
package figure

import (
	"image/color"
	"slices"
	"strings"

	"matladder/internal/each"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// A Picture is one page as data. Its values are in base units.
type Picture interface {
	Head() *Heading
	key() key
	// lay divides the page under a heading and a key of a height. It returns the height of
	// the page that the picture needs, and what draws it.
	lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (height vg.Length, rest func())
}

// A Heading says what a picture shows.
type Heading struct {
	Kind     string   // which pictures are of one kind
	Name     string   // of the file, without folder and extension
	Title    string   // what is shown
	Subtitle []string // how to read it; one line each
	Footer   []string // on what, how and when it was measured, small at the foot of the page
}

// Head returns h.
func (h *Heading) Head() *Heading { return h }

// key is that of pictures without one.
func (h *Heading) key() key { return nil }

// A page is 10 × 6.25 inches, or as high as it needs. Its smallest text is 9 points, which is still
// 9 pixels high when a picture of 144 dots an inch is shown at half size.
const (
	pageWidth  = 10 * vg.Inch
	pageHeight = 6.25 * vg.Inch
	margin     = 14 * vg.Length(1) // around everything, in points

	titleSize  = 16
	smallTitle = 13 // of a title that would not fit its line
	textSize   = 11
	smallSize  = 9.5
	footSize   = 9
)

// Size returns the size of the page that p needs.
func Size(p Picture) (width, height vg.Length) {
	height, _ = lay(p, draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight))
	return pageWidth, height
}

// Draw draws p on the whole of a canvas of its size.
func Draw(p Picture, c draw.Canvas) {
	fill(c, c.Rectangle, White)
	_, rest := lay(p, c)
	rest()
}

// lay draws the heading, the key and the footer, and lays the rest of p out between them.
func lay(p Picture, c draw.Canvas) (height vg.Length, rest func()) {
	page, h := grown(c.Rectangle, -margin), p.Head()
	small := style(footSize, SoftInk, text.XLeft, text.YBottom)
	lines := slices.Concat(each.Of(h.Footer, func(line string) []string { return wrap(line, small, page.Size().X) })...)
	if len(lines) > 0 {
		for i, line := range lines {
			write(c, small, page.Min.X, page.Min.Y+lineHeight(small)*vg.Length(len(lines)-1-i), line)
		}
		page.Min.Y += lineHeight(small)*vg.Length(len(lines)) + 8
	}
	height, rest = p.lay(c, page, h.draw(c, page, p.key()))
	return height + page.Min.Y - c.Min.Y - margin, rest
}

// draw writes title, subtitle and key from the top and returns the height it took, the
// line of the y axis' label included.
func (h *Heading) draw(c draw.Canvas, page vg.Rectangle, k key) vg.Length {
	width := page.Max.X - page.Min.X
	title := bold(style(titleSize, Ink, text.XLeft, text.YTop))
	for title.Width(h.Title) > width && title.Font.Size > smallTitle {
		title.Font.Size--
	}
	small := style(smallSize, SoftInk, text.XLeft, text.YTop)
	y := page.Max.Y
	for _, part := range wrap(h.Title, title, width) {
		write(c, title, page.Min.X, y, part)
		y -= lineHeight(title)
	}
	for _, line := range h.Subtitle {
		for _, part := range wrap(line, small, width) {
			write(c, small, page.Min.X, y, part)
			y -= lineHeight(small)
		}
	}
	y -= textLine + 12
	took := page.Max.Y - y
	if len(k) == 0 {
		return took
	}
	k.draw(c, vg.Point{X: page.Min.X, Y: page.Max.Y - took + (textLine + 12) - 6}, width)
	return took + vg.Length(len(k.rows(width)))*lineHeight(keyStyle) + 6
}

// style is a text style in the sans-serif face that ships with gonum.
func style(size font.Length, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: c, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

var (
	tickStyle = style(smallSize, Ink, text.XCenter, text.YTop)
	textLine  = lineHeight(style(textSize, Ink, text.XLeft, text.YTop))
)

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

// lineHeight is the distance between two lines of text.
func lineHeight(s text.Style) vg.Length { return s.Font.Size * 1.3 }

func write(c draw.Canvas, sty text.Style, x, y vg.Length, words string) {
	c.FillText(sty, vg.Point{X: x, Y: y}, words)
}

// beside writes with the middle of the letters at y.
func beside(c draw.Canvas, sty text.Style, x, y vg.Length, words string) {
	write(c, sty, x, y+sty.Font.Size*0.1, words)
}

// shorten cuts a name that would take the page from the curves.
func shorten(name string, sty text.Style) string {
	const widest = pageWidth * 0.34
	if sty.Width(name) <= widest {
		return name
	}
	runes := []rune(name)
	for len(runes) > 1 && sty.Width(string(runes)+"…") > widest {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// wrap breaks s between words into lines no wider than width.
func wrap(s string, sty text.Style, width vg.Length) []string {
	var lines []string
	for _, word := range strings.Fields(s) {
		if n := len(lines) - 1; n >= 0 && sty.Width(lines[n]+" "+word) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
