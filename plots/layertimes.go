package plots

import (
	"errors"
	"fmt"
	"image/color"
	"slices"

	"matladder/stats"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"matladder/results"
)

// LayerBars are layers of models one above the other, each as bars of its parts: a bar's
// length is the part's time, and the filled part is the roofline minimum.
type LayerBars struct {
	Heading
	Layers []stats.LayerTime
}

// layerPictures shows where the time of layers goes.
func layerPictures(q Request, d data) ([]Picture, error) {
	var list []Picture
	for _, mode := range results.Modes {
		var shown []*stats.Summary
		p := &LayerBars{}
		for _, l := range stats.LayersOf(d.asked) {
			if l.Mode != mode || l.Seconds == 0 {
				continue
			}
			p.Layers = append(p.Layers, l)
			for _, part := range l.Parts {
				if part.Best != nil {
					shown = append(shown, part.Best)
				}
			}
		}
		if p.Layers == nil {
			continue
		}
		p.Heading = headingOf(q, "Where the time of a layer goes", shown, false, "~: ")
		if mode == results.Predicted {
			p.Subtitle = slices.Delete(p.Subtitle, 1, 2) // of medians
		}
		p.Subtitle = append(p.Subtitle, "a bar is a part's time at its fastest kernel, in % of its layer's; filled: what the longer of its FLOPs at the peak and its bytes at the bandwidth takes")
		if len(list) > 0 {
			p.Name += "_" + string(mode)
		}
		list = append(list, p)
	}
	if list == nil {
		return nil, errors.New("no layer of a model has a time: bench --config transformer measures some, and with --topology v6e predicts them")
	}
	return list, nil
}

// The colours of parts by what bounds their roof.
var boundColor = map[string]color.NRGBA{"memory": blue, "products": vermillion}

func (p *LayerBars) key() key {
	bounds, predicted := map[string]bool{}, false
	for _, l := range p.Layers {
		predicted = predicted || l.Mode == results.Predicted
		for _, part := range l.Parts {
			if part.Best != nil {
				bounds[part.Bound()] = true
			}
		}
	}
	var k key
	for _, bound := range []string{"memory", "products"} {
		if col := boundColor[bound]; bounds[bound] {
			k = append(k, keyEntry{"roof: " + bound, textColor(col), boxSign(col, false)},
				keyEntry{"beyond it", textColor(col), func(c draw.Canvas, at vg.Point) { beyondBox(c, around(at, 6, 4.5), col, predicted) }})
		}
	}
	return k
}

// beyondBox is the part of a bar that its roof does not take.
func beyondBox(c draw.Canvas, b vg.Rectangle, col color.NRGBA, predicted bool) {
	if predicted {
		fillBox(c, b, col, true)
		return
	}
	col.A = 0x50
	c.SetColor(col)
	c.Fill(b.Path())
}

const layerGap = 12 * vg.Length(1)

// Size returns the size of the page.
func (p *LayerBars) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	height = headAndKey(&p.Heading, p.key(), ruler, inset(ruler.Rectangle))
	for _, l := range p.Layers {
		height += rowHeight*vg.Length(len(l.Parts)+1) + layerGap
	}
	return pageWidth, height + 2*margin
}

// partWords are what stands behind the bar of a part.
func partWords(part stats.PartTime, whole float64) string {
	if part.Best == nil {
		return "no time: " + string(part.Status)
	}
	return fmt.Sprintf("%s%s · %s %% of the layer · %s%s %% of its roof", part.Mark(), stats.FormatSeconds(part.Seconds), digits(100*part.Seconds/whole),
		part.Mark(), digits(100*part.Roof/part.Seconds))
}

// Draw draws the layers on canvas.
func (p *LayerBars) Draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	page := inset(c.Rectangle)
	y := page.Max.Y - headAndKey(&p.Heading, p.key(), c, page)
	var names, words vg.Length
	most := 0.0
	for _, l := range p.Layers {
		for _, part := range l.Parts {
			names = max(names, tickStyle.Width(shorten(partName(part), tickStyle)))
			words = max(words, tickStyle.Width(partWords(part, l.Seconds)))
			most = max(most, part.Seconds/l.Seconds, part.Roof/l.Seconds)
		}
	}
	left := page.Min.X + names + 10
	scale := (page.Max.X - left - words - 8) / vg.Length(most)
	for _, l := range p.Layers {
		c.StrokeLine2(draw.LineStyle{Color: gridLine, Width: 0.8}, page.Min.X, y, page.Max.X, y)
		y -= layerGap / 2
		drawLayer(c, l, page.Min.X, left, scale, y)
		y -= rowHeight*vg.Length(len(l.Parts)+1) + layerGap/2
	}
}

// partName is a part with how often the layer has it.
func partName(part stats.PartTime) string {
	if part.Times > 1 {
		return fmt.Sprintf("%s ×%d", part.Name, part.Times)
	}
	return part.Name
}

// drawLayer draws a layer below y, with bars from left on, each as long as scale times its
// share of the layer's time.
func drawLayer(c draw.Canvas, l stats.LayerTime, margin, left, scale, y vg.Length) {
	title := fmt.Sprintf("%s: %s, %s %% of its roof", l.Name, l.Mark()+stats.FormatSeconds(l.Seconds), l.Mark()+digits(100*l.Roof/l.Seconds))
	if l.Missing > 0 {
		title += ", without " + counted(l.Missing, "part") + " that "
		if l.Missing == 1 {
			title += "has no time"
		} else {
			title += "have no time"
		}
	}
	c.FillText(aligned(bold(tickStyle), text.XLeft, text.YCenter), vg.Point{X: margin, Y: y - rowHeight/2}, title)
	name, words := aligned(tickStyle, text.XRight, text.YCenter), aligned(tickStyle, text.XLeft, text.YCenter)
	for i, part := range l.Parts {
		mid := y - rowHeight*(vg.Length(i)+1.5)
		c.FillText(name, vg.Point{X: left - 6, Y: mid + name.Font.Size*0.1}, shorten(partName(part), name))
		end := left
		if part.Best != nil {
			col := boundColor[part.Bound()]
			end = left + max(1, scale*vg.Length(part.Seconds/l.Seconds))
			beyondBox(c, vg.Rectangle{Min: vg.Point{X: left, Y: mid - 5.5}, Max: vg.Point{X: end, Y: mid + 5.5}}, col, l.Mode == results.Predicted)
			roof := left + scale*vg.Length(min(part.Roof, part.Seconds)/l.Seconds)
			fillBox(c, vg.Rectangle{Min: vg.Point{X: left, Y: mid - 5.5}, Max: vg.Point{X: roof, Y: mid + 5.5}}, col, false)
		}
		c.FillText(words, vg.Point{X: end + 6, Y: mid + words.Font.Size*0.1}, partWords(part, l.Seconds))
	}
}
