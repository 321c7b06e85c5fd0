package plots

import (
	"cmp"
	"fmt"
	"image/color"

	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// rungColor is the colour of kernel vN at N-1, in every kind of picture.
var rungColor = []color.NRGBA{figure.ReddishPurple, figure.Orange, figure.SkyBlue, figure.Blue, figure.Vermillion}

// peerColor are the colours of peers, from Paul Tol's muted scheme (2021): none is that of a rung.
var peerColor = map[string]color.NRGBA{
	"openblas": {0x44, 0xaa, 0x99, 0xff},
	"onednn":   {0x33, 0x22, 0x88, 0xff},
	"blis":     {0x99, 0x99, 0x33, 0xff},
	"mkl":      {0x88, 0x22, 0x55, 0xff},
	"libxsmm":  {0x11, 0x77, 0x33, 0xff},
}

// wayColor tell apart series of one kernel, such as ways to spread a product.
var wayColor = []color.NRGBA{figure.BluishGreen, figure.Blue, figure.Orange, figure.Vermillion, figure.ReddishPurple, figure.SkyBlue}

// kernelColor returns the colour of a kernel by its name: the baseline is black, v1 to v5 and
// peers have a colour each, higher rungs a darker one, anything else is green.
func kernelColor(kernel string) color.NRGBA {
	if kernel == results.Baseline {
		return figure.Black
	}
	if n, ok := stats.Rung(kernel); ok {
		return figure.Shaded(rungColor[(n-1)%len(rungColor)], min(1, 0.7*float64((n-1)/len(rungColor))))
	}
	return cmp.Or(peerColor[kernel], figure.BluishGreen)
}

// KernelColors returns the colour that a kernel, the baseline or a peer has in
// every kind of picture, and a darker one for text of it on white.
func KernelColors(kernel string) (line, text color.NRGBA) {
	return kernelColor(kernel), figure.TextColor(kernelColor(kernel))
}

// seriesOf is the look of a kernel in a mode, of those of the picture, where it has one line.
func seriesOf(kernel string, mode results.Mode, all string) figure.Series {
	n, _ := stats.Rung(kernel)
	return named(figure.Series{Color: kernelColor(kernel), Shape: max(n, 0)}, kernel, mode, all)
}

// short is a rung by its number alone, and another name as it is.
func short(kernel string) string {
	if n, ok := stats.Rung(kernel); ok {
		return fmt.Sprintf("v%d", n)
	}
	return kernel
}

// named names a series, by its mode too where it is predicted and not all are.
func named(s figure.Series, label string, mode results.Mode, all string) figure.Series {
	s.Predicted = mode == results.Predicted
	s.Label = label + words.When(s.Predicted && all != string(mode), " predicted")
	return s
}

// A slot is the look of a curve within its kernel. A prediction has that of
// the measurement of the same choice.
type slot struct{ index, count, shape int }

// shade spreads the slots of a kernel over its ramp, in order.
func (s slot) shade() float64 {
	if s.count < 2 {
		return 0
	}
	return 2*float64(s.index)/float64(s.count-1) - 1
}

// series is the look of a curve in its slot.
func (s slot) series(label string, c *curve) figure.Series {
	return figure.Series{Label: label, Color: s.color(c.kernel), Shape: s.shape, Predicted: c.any().Mode == results.Predicted}
}

func (s slot) color(kernel string) color.NRGBA { return figure.Shaded(kernelColor(kernel), s.shade()) }

// slots gives each curve its slot.
func slots(curves []*curve) []slot {
	var list []slot
	type look struct {
		kernel string
		choice choice
		again  int // of several curves with one choice in one mode
	}
	type pick struct {
		look
		mode results.Mode
	}
	index, again, count := map[look]int{}, map[pick]int{}, map[string]int{}
	for _, c := range curves {
		l := look{c.kernel, c.choice, 0}
		p := pick{l, c.any().Mode}
		l.again = again[p]
		again[p]++
		if _, ok := index[l]; !ok {
			index[l] = count[c.kernel]
			count[c.kernel]++
		}
		list = append(list, slot{index: index[l]})
	}
	for i, c := range curves {
		list[i].count = count[c.kernel]
	}
	shapes(curves, list)
	return list
}

// shapes gives each slot its marker. A rung's first is that of its number, the
// baseline's is the first of all, whatever else is shown. Peers, kernels without a
// number and further curves of one kernel take those that are left.
func shapes(curves []*curve, list []slot) {
	type look struct {
		kernel string
		index  int
	}
	shape := map[look]int{{results.Baseline, 0}: 0}
	taken := map[int]bool{0: true} // the baseline's, even where there is none
	for _, c := range curves {
		if n, ok := stats.Rung(c.kernel); ok {
			shape[look{c.kernel, 0}] = n
			taken[n%figure.Shapes] = true
		}
	}
	var free []int
	for i := range figure.Shapes {
		if at := (len(rungColor) + 1 + i) % figure.Shapes; !taken[at] { // those of no rung first
			free = append(free, at)
		}
	}
	next := 0
	for i, c := range curves {
		l := look{c.kernel, list[i].index}
		if _, ok := shape[l]; !ok {
			shape[l] = next
			if len(free) > 0 {
				shape[l] = free[next%len(free)]
			}
			next++
		}
		list[i].shape = shape[l]
	}
}
