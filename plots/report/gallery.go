package report

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"html/template"

	"matladder/plots"
	"matladder/plots/figure"
)

// A kindOfPicture is a part of the page with the pictures of one kind.
type kindOfPicture struct {
	Kind, Title, About string
	Images             []image
}

// An image is one picture in the page's text; without Data the title says why there is
// none.
type image struct {
	Title         string
	Data          template.URL
	Width, Height int // in CSS pixels
}

// about says what kinds of picture show; another kind has its name alone.
var about = map[plots.Kind][2]string{
	plots.Blocks:    {"Blocks", "Each block shape at each size, coloured by its rate; what is too big is hatched."},
	plots.Waterfall: {"One grid step", "What a grid step is made of by the step model, and what it takes."},
	plots.Dispatch:  {"Dispatch", "The device's time of a launch beside what calling it costs."},
	plots.Errors:    {"Errors", "What rounding costs by the length of the sum: a line is the largest error of a kernel's block shapes, its band reaches down to the least."},
}

// gallery puts pictures into the page's text, as SVG that is an image of its own: it can
// run and load nothing.
func gallery(pictures []figure.Picture) []kindOfPicture {
	var list []kindOfPicture
	for _, p := range pictures {
		h := p.Head()
		if len(list) == 0 || list[len(list)-1].Kind != h.Kind {
			words := about[plots.Kind(h.Kind)]
			list = append(list, kindOfPicture{Kind: h.Kind, Title: cmp.Or(words[0], h.Kind), About: words[1]})
		}
		k := &list[len(list)-1]
		width, height := figure.Size(p)
		img := image{Title: h.Title, Width: int(width.Points() * 4 / 3), Height: int(height.Points() * 4 / 3)}
		var svg bytes.Buffer
		if err := figure.Write(&svg, p, figure.SVG); err != nil {
			img.Title = err.Error()
		} else {
			img.Data = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes()))
		}
		k.Images = append(k.Images, img)
	}
	return list
}
