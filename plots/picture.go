package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Picture is one page as data: a *Chart, *Bars, *Panels, *HeatMap, *Steps,
// *Rows or *LayerBars. Its values are in base units and can be shown by other means than Draw.
type Picture interface {
	Head() *Heading
	Size() (width, height vg.Length)
	Draw(canvas draw.Canvas) // on the whole of a canvas of that size
}

// A Heading says what a picture shows.
type Heading struct {
	Kind     Kind
	Name     string   // of the file, without folder and extension
	Title    string   // what is shown
	Subtitle []string // on what, how and when it was measured; one line each
}

// Head returns h.
func (h *Heading) Head() *Heading { return h }
