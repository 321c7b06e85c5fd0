package plots

import (
	"fmt"
	"image"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawOn draws p on c. A place that is no number, or far off every page, is an error
// and not drawn: a rasterizer takes such a path for hours of work.
func drawOn(c vg.CanvasSizer, p Picture) error {
	f := &finite{CanvasSizer: c}
	p.Draw(draw.New(f))
	if f.lost > 0 {
		return fmt.Errorf("%s cannot be drawn: %d of its lines, areas or words have a place that is no number or lies far off the page", p.Head().Name, f.lost)
	}
	return nil
}

// finite is a canvas that leaves out, and counts, what has no place on a page.
type finite struct {
	vg.CanvasSizer
	lost int
}

// farthest is a place beyond every page, in points.
const farthest = 1e6

func (f *finite) placed(points ...vg.Point) bool {
	for _, p := range points {
		if !(math.Abs(float64(p.X)) <= farthest && math.Abs(float64(p.Y)) <= farthest) {
			f.lost++
			return false
		}
	}
	return true
}

func (f *finite) path(p vg.Path) bool {
	for _, c := range p {
		if !f.placed(c.Pos) || !f.placed(c.Control...) || !f.placed(vg.Point{X: c.Radius}) {
			return false
		}
	}
	return true
}

func (f *finite) Stroke(p vg.Path) {
	if f.path(p) {
		f.CanvasSizer.Stroke(p)
	}
}

func (f *finite) Fill(p vg.Path) {
	if f.path(p) {
		f.CanvasSizer.Fill(p)
	}
}

func (f *finite) FillString(face font.Face, at vg.Point, s string) {
	if f.placed(at) {
		f.CanvasSizer.FillString(face, at, s)
	}
}

func (f *finite) DrawImage(r vg.Rectangle, img image.Image) {
	if f.placed(r.Min, r.Max) {
		f.CanvasSizer.DrawImage(r, img)
	}
}
