package plots

import (
	"fmt"

	"matladder/stats"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Steps are waterfalls, one a kernel: what one grid step is made of.
type Steps struct {
	Heading
	Kernels []StepBars
}

// StepBars is one waterfall. Times are in seconds a step.
type StepBars struct {
	Label, Kernel string
	Blocks        string
	Steps         int64
	Parts         []StepPart
	Model         float64 // by the step model, 0 if there is none
	Total         float64
	Predicted     bool // the total is a prediction too
}

// A StepPart is one bar of a waterfall.
type StepPart struct {
	Name         string
	From, Length float64
}

const stepBarHeight = 15 * vg.Length(1)

// lines is how many bars there are, the total included.
func (b *StepBars) lines() int {
	n := len(b.Parts) + 1
	if b.Model > 0 {
		n++
	}
	return n
}

func (b *StepBars) longest() float64 {
	most := max(b.Total, b.Model)
	for _, p := range b.Parts {
		most = max(most, p.From+p.Length)
	}
	return most
}

// Size returns the size of the page.
func (w *Steps) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	page := inset(ruler.Rectangle)
	height = headAndKey(&w.Heading, nil, ruler, page)
	for _, b := range w.Kernels {
		height += stepBarHeight*vg.Length(b.lines()) + 14
	}
	return pageWidth, height + 2*margin
}

// Draw draws the waterfalls on canvas.
func (w *Steps) Draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	page := inset(c.Rectangle)
	y := page.Max.Y - headAndKey(&w.Heading, nil, c, page) + 14
	var names, kernels vg.Length
	for _, b := range w.Kernels {
		kernels = max(kernels, bold(tickStyle).Width(b.Label), tickStyle.Width(b.about()))
		for _, p := range b.Parts {
			names = max(names, tickStyle.Width(p.Name))
		}
	}
	names = max(names, tickStyle.Width("measured"), tickStyle.Width("predicted"), tickStyle.Width("step model"))
	left := page.Min.X + kernels + 14
	for _, b := range w.Kernels {
		c.StrokeLine2(draw.LineStyle{Color: gridLine, Width: 0.8}, page.Min.X, y, page.Max.X, y)
		y -= 7
		b.draw(c, page, left, names, y)
		y -= stepBarHeight*vg.Length(b.lines()) + 7
	}
}

// about is what stands under the kernel's name.
func (b *StepBars) about() string {
	steps := fmt.Sprintf("%d steps", b.Steps)
	if b.Steps == 1 {
		steps = "1 step"
	}
	if b.Blocks != "" {
		return b.Blocks + ", " + steps
	}
	return steps
}

func (b *StepBars) draw(c draw.Canvas, page vg.Rectangle, left, names, y vg.Length) {
	col := kernelColor(b.Kernel)
	name := aligned(bold(tickStyle), text.XLeft, text.YTop)
	name.Color = textColor(col)
	c.FillText(name, vg.Point{X: page.Min.X, Y: y - 2}, b.Label)
	small := aligned(tickStyle, text.XLeft, text.YTop)
	c.FillText(small, vg.Point{X: page.Min.X, Y: y - 2 - lineHeight(name)}, b.about())

	start := left + names + 10
	room := page.Max.X - start - tickStyle.Width("0.0000 ns ") - 6
	scale := room / vg.Length(b.longest())
	label := aligned(tickStyle, text.XRight, text.YCenter)
	value := aligned(tickStyle, text.XLeft, text.YCenter)
	bar := func(name string, from, length float64, predicted bool) {
		mid := y - stepBarHeight/2
		c.FillText(label, vg.Point{X: start - 6, Y: mid + label.Font.Size*0.1}, name)
		x0, x1 := start+scale*vg.Length(from), start+scale*vg.Length(from+length)
		fillBox(c, vg.Rectangle{Min: vg.Point{X: x0, Y: mid - 5}, Max: vg.Point{X: max(x1, x0+1), Y: mid + 5}}, col, predicted)
		c.FillText(value, vg.Point{X: max(x1, x0+1) + 5, Y: mid + value.Font.Size*0.1}, stats.FormatSeconds(length))
		y -= stepBarHeight
	}
	for _, p := range b.Parts {
		bar(p.Name, p.From, p.Length, true)
	}
	if b.Model > 0 {
		bar("step model", 0, b.Model, true)
	}
	total := "measured"
	if b.Predicted {
		total = "predicted"
	}
	bar(total, 0, b.Total, b.Predicted)
}
