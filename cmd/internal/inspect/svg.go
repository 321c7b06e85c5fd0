package inspect

import (
	"fmt"
	"html"
	"io"
	"strings"

	"matladder/backend/xla/aot"
	"matladder/internal/words"
	"matladder/stats"
)

// Measures of the picture in pixels.
const (
	svgWidth  = 960
	svgLeft   = 110 // names of units and parts
	svgRight  = 110 // figures
	svgRow    = 46  // of a unit
	svgBar    = 26  // of a part of a step
	svgHead   = 66
	svgGap    = 34  // above each group of rows
	svgPoints = 400 // along a step

	svgColumns = 130 // characters of a line of text
)

// Colours of the picture: one hue for each part of a step, dark on white.
const (
	computeColour  = "#0072b2"
	transferColour = "#d55e00"
	overheadColour = "#7f7f7f"
	unitColour     = "#0072b2"
	someColour     = "#f6d9b8"
)

// svg draws the parts of a step as bars, and below them how full each unit is along
// the bundles of a step.
func (r report) svg(w io.Writer) error {
	var body strings.Builder
	y := svgHead
	for _, p := range r.parts {
		y = r.drawParts(&body, p, y)
		y = r.drawUnits(&body, p, y)
	}
	var foot strings.Builder
	r.total(&foot)
	y += 12
	for _, line := range strings.Split(strings.TrimSpace(foot.String()), "\n") {
		for _, part := range wrap(line, svgColumns) {
			y += 20
			text(&body, 16, y, 13, "start", part)
		}
	}
	name, version := r.backend.Plugin()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" fill="#222">`+"\n",
		svgWidth, y+20, svgWidth, y+20)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", svgWidth, y+20)
	text(&b, 16, 28, 18, "start", r.title())
	text(&b, 16, 50, 13, "start", fmt.Sprintf("%s, predicted from the schedule of %s %s", r.device.CommonName(), name, version))
	b.WriteString(body.String())
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// drawParts draws compute, HBM and overhead of a step on one scale, below y, and
// returns where it ends.
func (r report) drawParts(b *strings.Builder, p aot.Explained, y int) int {
	y += svgGap
	text(b, 16, y-10, 14, "start", fmt.Sprintf("%s: %s of %s", r.short(p.Kernel), words.Count(p.Time.Steps, "grid step"), stats.FormatSeconds(p.Time.Step)))
	longest := max(p.Time.Compute, p.Time.Transfer, p.Time.Overhead)
	for _, part := range []struct {
		name, colour string
		seconds      float64
	}{{"compute", computeColour, p.Time.Compute}, {"HBM", transferColour, p.Time.Transfer}, {"overhead", overheadColour, p.Time.Overhead}} {
		text(b, svgLeft-10, y+17, 13, "end", part.name)
		width := part.seconds / longest * (svgWidth - svgLeft - svgRight)
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", svgLeft, y+3, width, svgBar-6, part.colour)
		text(b, svgWidth-svgRight+10, y+17, 13, "start", stats.FormatSeconds(part.seconds))
		y += svgBar
	}
	return y
}

// drawUnits draws the units of a step, below y, and returns where it ends.
func (r report) drawUnits(b *strings.Builder, p aot.Explained, y int) int {
	in := span(p.Schedule)
	y += svgGap
	title := fmt.Sprintf("slots in use along the %d bundles of a step", in.Len())
	some := p.Schedule.Conditional()
	if len(some) > 0 {
		title += ", shaded those that only some steps run"
	}
	text(b, 16, y-10, 14, "start", title)
	scale := float64(svgWidth-svgLeft-svgRight) / float64(max(1, in.Len()))
	for _, u := range shown {
		along := p.Schedule.Along(u.kind, in, svgPoints)
		base := y + svgRow - 6
		height := float64(svgRow - 12)
		text(b, svgLeft-10, base-10, 13, "end", u.name)
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%.0f" fill="#f2f2f2"/>`+"\n", svgLeft, base-int(height), svgWidth-svgLeft-svgRight, height)
		for _, c := range some {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%.0f" fill="%s"/>`+"\n",
				svgLeft+float64(c.From-in.From)*scale, base-int(height), float64(c.Len())*scale, height, someColour)
		}
		var points strings.Builder
		step := float64(svgWidth-svgLeft-svgRight) / float64(max(1, len(along)))
		for i, part := range along {
			x := svgLeft + float64(i)*step
			fmt.Fprintf(&points, " %.1f,%.1f %.1f,%.1f", x, float64(base)-part*height, x+step, float64(base)-part*height)
		}
		fmt.Fprintf(b, `<polygon points="%d,%d%s %d,%d" fill="%s"/>`+"\n", svgLeft, base, points.String(), svgWidth-svgRight, base, unitColour)
		text(b, svgWidth-svgRight+10, base-10, 13, "start", fmt.Sprintf("%.1f %%", 100*mean(along)))
		y += svgRow
	}
	return y
}

func text(b *strings.Builder, x, y, size int, anchor, s string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="%d" text-anchor="%s">%s</text>`+"\n", x, y, size, anchor, html.EscapeString(s))
}

// wrap breaks a line between words.
func wrap(line string, columns int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(line) {
		if current != "" && len(current)+1+len(word) > columns {
			lines, current = append(lines, current), ""
		}
		current = strings.TrimSpace(current + " " + word)
	}
	return append(lines, current)
}
