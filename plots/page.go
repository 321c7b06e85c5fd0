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
	"gonum.org/v1/plot/vg/recorder"
)

// A page is 10 × 6.25 inches, higher by its legend if it needs one. Its smallest text is 9 points, which is still
// 9 pixels high when a picture of 144 dots an inch is shown at half size.
const (
	pageWidth  = 10 * vg.Inch
	pageHeight = 6.25 * vg.Inch
	pngDPI     = 144
	margin     = 14 * vg.Length(1) // around everything, in points
)

const (
	titleSize  = 16
	smallTitle = 13 // of a title that would not fit its line
	textSize   = 11
	smallSize  = 9.5
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

// Size returns the size of the page that the chart needs.
func (ch *Chart) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	if l := ch.layout(ruler); !l.direct {
		return pageWidth, pageHeight + l.legend.height()
	}
	return pageWidth, pageHeight
}

// A layout is the division of a page.
type layout struct {
	page   draw.Canvas // without margins and heading
	frame  frame
	labels *endLabels
	direct bool // the labels stand at the ends of the curves, else in the legend
	legend legend
	strip  strip
}

// layout divides canvas, on which it writes the heading.
func (ch *Chart) layout(canvas draw.Canvas) layout {
	l := layout{page: draw.Crop(canvas, margin, -margin, margin, -margin), labels: ch.endLabels(), strip: ch.strip()}
	l.page.Max.Y -= ch.Heading.draw(l.page)
	l.legend = newLegend(l.page, l.labels)
	below := l.strip.height() + lineHeight(style(textSize, ink)) + 4
	l.frame = ch.frame(l.page, max(l.labels.width()+labelGap, l.strip.labelWidth()), below)
	grown := canvas.Size().Y - pageHeight
	l.direct = l.labels.fit(l.frame.box.Size().Y - grown)
	if !l.direct {
		l.frame = ch.frame(l.page, l.strip.labelWidth(), below+l.legend.height())
	}
	return l
}

// frame is the place of the axes on a page that keeps room to the right and below their
// labels.
func (ch *Chart) frame(page draw.Canvas, right, below vg.Length) frame {
	f := frame{x: ch.X, y: ch.Y, box: page.Rectangle}
	f.box.Max.X -= right
	f.box.Min.Y += below
	f.box.Min.X += f.yWidth()
	f.box.Min.Y += f.xHeight()
	f.box.Min.X += max(0, page.Min.X-f.slantedEnd())
	return f
}

// Draw draws the chart on the whole of canvas, which has the chart's size.
func (ch *Chart) Draw(canvas draw.Canvas) {
	canvas.SetColor(white)
	canvas.Fill(canvas.Rectangle.Path())
	l := ch.layout(canvas)
	f := l.frame
	f.drawY(canvas, true)
	if ch.scatter() {
		f.drawXGrid(canvas)
	}
	f.drawX(canvas, true)
	ch.drawLayers(canvas, f, l.direct, l.labels)
	l.strip.draw(canvas, f)
	yLabel := aligned(style(textSize, ink), text.XLeft, text.YBottom)
	canvas.FillText(yLabel, vg.Point{X: l.page.Min.X, Y: f.box.Max.Y + 3}, ch.Y.Label)
	f.drawXName(canvas, l.strip.height())
	if !l.direct {
		l.legend.draw(l.page)
	}
}

// draw writes title and subtitle from the top and returns the height
// it took, the line of the y axis' label included.
func (h *Heading) draw(page draw.Canvas) vg.Length {
	title := aligned(bold(style(titleSize, ink)), text.XLeft, text.YTop)
	for title.Width(h.Title) > page.Size().X && title.Font.Size > smallTitle {
		title.Font.Size--
	}
	small := aligned(style(smallSize, softInk), text.XLeft, text.YTop)
	at := page.Max
	at.X = page.Min.X
	for _, part := range wrap(h.Title, title, page.Size().X) {
		page.FillText(title, at, part)
		at.Y -= lineHeight(title)
	}
	for _, line := range h.Subtitle {
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
