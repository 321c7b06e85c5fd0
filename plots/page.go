package plots

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A page is 10 × 6.25 inches. Its smallest text is 9 points, which is still
// 9 pixels high when a picture of 144 dots an inch is shown at half size.
const (
	pageWidth  = 10 * vg.Inch
	pageHeight = 6.25 * vg.Inch
	pngDPI     = 144
	margin     = 14 * vg.Length(1) // around everything, in points
)

const (
	titleSize = 16
	textSize  = 11
	smallSize = 9.5
)

// style returns a text style in the sans-serif face that ships with gonum.
func style(size font.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// lineHeight is the distance between two lines of text.
func lineHeight(s text.Style) vg.Length { return s.Font.Size * 1.3 }

// Draw draws the chart on the whole of canvas.
func (ch *Chart) Draw(canvas draw.Canvas) {
	canvas.SetColor(white)
	canvas.Fill(canvas.Rectangle.Path())
	page := draw.Crop(canvas, margin, -margin, margin, -margin)
	page.Max.Y -= ch.drawHeading(page)

	labels := ch.endLabels()
	strip := ch.strip()
	legend := newLegend(page, labels)
	xLabel := aligned(style(textSize, ink), text.XCenter, text.YTop)
	below := strip.height() + lineHeight(xLabel) + 4

	// Labels at the ends of curves, unless they need more room than there is.
	area := draw.Crop(page, 0, -labels.width()-labelGap, below, 0)
	p := ch.plot()
	direct := labels.fit(p.DataCanvas(area))
	if !direct {
		area = draw.Crop(page, 0, -strip.labelWidth(), below+legend.height(), 0)
	}

	data := p.DataCanvas(area)
	ch.addLayers(p, direct, labels)
	p.Draw(area)
	strip.draw(p, data, area.Min.Y)
	yLabel := aligned(style(textSize, ink), text.XLeft, text.YBottom)
	canvas.FillText(yLabel, vg.Point{X: page.Min.X, Y: area.Max.Y + 3}, ch.Y.Label)
	canvas.FillText(xLabel, vg.Point{X: data.Center().X, Y: area.Min.Y - strip.height() - 2}, ch.X.Label)
	if !direct {
		legend.draw(page)
	}
}

// drawHeading writes title and subtitle from the top and returns the height
// it took, the line of the y axis' label included.
func (ch *Chart) drawHeading(page draw.Canvas) vg.Length {
	title := aligned(bold(style(titleSize, ink)), text.XLeft, text.YTop)
	for title.Width(ch.Title) > page.Size().X && title.Font.Size > textSize {
		title.Font.Size--
	}
	small := aligned(style(smallSize, softInk), text.XLeft, text.YTop)
	at := page.Max
	at.X = page.Min.X
	page.FillText(title, at, ch.Title)
	at.Y -= lineHeight(title)
	for _, line := range ch.Subtitle {
		for _, part := range wrap(line, small, page.Size().X) {
			page.FillText(small, at, part)
			at.Y -= lineHeight(small)
		}
	}
	at.Y -= lineHeight(style(textSize, ink)) + 6
	return page.Max.Y - at.Y
}

// wrap breaks s between words into lines no wider than width.
func wrap(s string, sty text.Style, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case sty.Width(line+" "+word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
