package timeline

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Measures of the picture in pixels.
const (
	width  = 1100
	left   = 110 // names of tracks
	right  = 24
	head   = 92 // title and legend
	row    = 44 // of a track
	inner  = 8  // above and below what is inside of a step
	gap    = 40 // above each timeline but the first, with its title
	finest = 0.4
)

// colours are of the kinds: those of Okabe and Ito, which all eyes tell apart.
var colours = map[Kind]string{
	Step: "#e4e4e4", Pack: "#e69f00", Move: "#d55e00", Multiply: "#0072b2", Epilogue: "#009e73", Load: "#cc79a7", Wait: "#bbbbbb",
}

// SVG draws timelines below each other, each on a scale of its own: a row a track, steps as frames
// with what they did inside. Spans too short to see are joined to their neighbours of one kind.
func SVG(w io.Writer, list ...*Timeline) error {
	var body strings.Builder
	y := head
	for i, t := range list {
		if i > 0 {
			y += gap
		}
		y = t.draw(&body, y)
	}
	var b strings.Builder
	height := y + 30
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" fill="#222">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	x := left
	for _, k := range Kinds {
		if !slices.ContainsFunc(list, func(t *Timeline) bool { return t.Count(k) > 0 }) {
			continue
		}
		fmt.Fprintf(&b, `<rect x="%d" y="14" width="14" height="14" fill="%s"/>`+"\n", x, colours[k])
		text(&b, float64(x+20), 26, 13, "start", string(k))
		x += 34 + 8*len(k)
	}
	b.WriteString(body.String())
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// draw draws one timeline below y and returns where it ends.
func (t *Timeline) draw(b *strings.Builder, y int) int {
	end := max(t.End(), 1)
	const across = width - left - right
	at := func(d time.Duration) float64 { return left + float64(d)/float64(end)*across }
	text(b, 16, float64(y-26), 16, "start", fmt.Sprintf("%s (%s)", t.Title, t.Source))
	bottom := y + row*len(t.Tracks)
	unit, name := scale(end)
	step := ticks(float64(end) / float64(unit))
	for i := 0; ; i++ {
		v := float64(i) * step
		if v*float64(unit) > float64(end) {
			break
		}
		x := at(time.Duration(v * float64(unit)))
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ccc" stroke-width="0.5"/>`+"\n", x, y, x, bottom+4)
		label := fmt.Sprintf("%g", math.Round(v*1e6)/1e6)
		if i == 0 {
			label += " " + name
		}
		text(b, x, float64(bottom+18), 11, "middle", label)
	}
	for i, name := range t.Tracks {
		text(b, left-10, float64(y+row*i)+row/2+4, 13, "end", name)
	}
	for i := 0; i < len(t.Spans); {
		s := t.Spans[i]
		until, j := s.End, i+1
		for ; j < len(t.Spans); j++ { // short ones of a kind that follow each other
			n := t.Spans[j]
			if n.Track != s.Track || n.Kind != s.Kind || s.Kind == Step || at(n.Start)-at(until) > finest || at(n.End)-at(n.Start) > finest {
				break
			}
			until = max(until, n.End)
		}
		i = j
		top, high := y+row*s.Track+inner, row-2*inner
		if s.Kind == Step {
			top, high = top-4, high+8
			fmt.Fprintf(b, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s" stroke="white" stroke-width="0.5"><title>%s, %v</title></rect>`+"\n",
				at(s.Start), top, max(at(s.End)-at(s.Start), finest), high, colours[s.Kind], html.EscapeString(s.Name), s.End-s.Start)
			continue
		}
		fmt.Fprintf(b, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"><title>%s, %v</title></rect>`+"\n",
			at(s.Start), top, max(at(until)-at(s.Start), finest), high, colours[s.Kind], html.EscapeString(s.Name), until-s.Start)
	}
	return bottom + 24
}

// scale is the unit of a time axis.
func scale(end time.Duration) (time.Duration, string) {
	switch {
	case end >= 10*time.Millisecond:
		return time.Millisecond, "ms"
	case end >= 10*time.Microsecond:
		return time.Microsecond, "µs"
	}
	return time.Nanosecond, "ns"
}

// ticks is how far ticks are apart on an axis that ends at end: 1, 2 or 5 times a power of
// ten, some ten of them.
func ticks(end float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(end/10)))
	for _, f := range []float64{1, 2, 5} {
		if end/(f*power) <= 12 {
			return f * power
		}
	}
	return 10 * power
}

func text(b *strings.Builder, x, y float64, size int, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s">%s</text>`+"\n", x, y, size, anchor, html.EscapeString(s))
}
