package plots

import (
	"errors"
	"fmt"
	"image/color"
	"slices"

	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// layerPictures shows where the time of layers goes: a bar's
// length is a part's time, and the filled part is the roofline minimum. Two fit a picture.
func layerPictures(q Request, d data) ([]figure.Picture, error) {
	var list []figure.Picture
	for _, mode := range results.Modes {
		of := slices.DeleteFunc(stats.LayersOf(d.asked), func(l stats.LayerTime) bool { return l.Mode != mode || l.Seconds == 0 })
		for part := range slices.Chunk(of, 2) {
			p := layersPicture(q, part, mode)
			if len(list) > 0 {
				p.Name += fmt.Sprintf("_%d", len(list)+1)
			}
			list = append(list, p)
		}
	}
	if list == nil {
		return nil, errors.New("no layer of a model has a time: bench --config transformer measures some, and with --topology v6e predicts them")
	}
	return list, nil
}

func layersPicture(q Request, layers []stats.LayerTime, mode results.Mode) *figure.Breakdowns {
	var shown []*stats.Summary
	p := &figure.Breakdowns{Heads: []string{"time", "% of the layer", "% of its roof"}}
	bound := map[string]bool{}
	for _, l := range layers {
		p.Wholes = append(p.Wholes, layerBars(l))
		for _, part := range l.Parts {
			if part.Best != nil {
				shown = append(shown, part.Best)
				bound[part.Bound()] = true
			}
		}
	}
	for _, name := range []string{"memory", "products"} {
		if col := boundColor[name]; bound[name] {
			p.Key = append(p.Key, figure.KeyBox{Label: "roof: " + name, Color: col}, figure.KeyBox{Label: "beyond it", Color: col, Fill: beyond(mode)})
		}
	}
	p.Heading = headingOf(q, "Where the time of a layer goes", shown, false, stats.Noisy+": ")
	p.Subtitle = append(p.Subtitle, "a bar is a part's time at its fastest kernel; filled: what the longer of its FLOPs at the peak and its bytes at the bandwidth takes")
	return p
}

// The colours of parts by what bounds their roof.
var boundColor = map[string]color.NRGBA{"memory": figure.Blue, "products": figure.Vermillion}

// beyond is how the part of a bar looks that its roof does not take.
func beyond(mode results.Mode) figure.Fill {
	if mode == results.Predicted {
		return figure.Hollow
	}
	return figure.Pale
}

func layerBars(l stats.LayerTime) figure.Whole {
	w := figure.Whole{Color: figure.Ink, Title: fmt.Sprintf("%s: %s, %s %% of its roof", l.Name, l.Mark()+stats.FormatSeconds(l.Seconds), l.Mark()+figure.Digits(100*l.Roof/l.Seconds))}
	if l.Missing > 0 {
		has := "have"
		if l.Missing == 1 {
			has = "has"
		}
		w.Title += fmt.Sprintf(", without %s that %s no time", words.Count(l.Missing, "part"), has)
	}
	for _, part := range l.Parts {
		p := figure.Part{Name: part.Name + words.When(part.Times > 1, " ×%d", part.Times), Words: "no time: " + string(part.Status)}
		if part.Best != nil {
			col := boundColor[part.Bound()]
			p.Spans = []figure.Span{{Length: part.Seconds / l.Seconds, Color: col, Fill: beyond(l.Mode)}, {Length: min(part.Roof, part.Seconds) / l.Seconds, Color: col}}
			p.Words = ""
			p.Cells = []string{part.Mark() + stats.FormatSeconds(part.Seconds), fmt.Sprintf("%.1f", 100*part.Seconds/l.Seconds), part.Mark() + fmt.Sprintf("%.1f", 100*part.Roof/part.Seconds)}
		}
		w.Parts = append(w.Parts, p)
	}
	return w
}
