package main

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"

	"matladder/stats"
)

// The measures of the picture. The smallest text is 22 of 900, which is more than 9 pixels on a
// phone 390 wide.
const (
	width, height = 900, 570
	side          = 156 // of an array
	gap           = 26
	left, top     = 30, 96 // of A, of B

	barLeft, barWidth = 478, 300
	barRow            = 33
)

// The times of the animation, in seconds.
const (
	sceneTime = 3.6
	walkTime  = 2.6 // of a scene, of the steps; then it holds
	holdTime  = 2.4 // of the last frame of all
)

// style has each colour by name, for a light page and a dark one.
const style = `
svg{--page:#fff;--ink:#1f2328;--soft:#59636e;--line:#c4cbd3;--track:#eceff2;--s1:#d6ecf9;--s2:#a9d4ef;--s3:#7cbbe4;--kept:#0072b2;--now:#e8730c;--v1:#cc79a7;--v2:#e69f00;--v3:#56b4e9;--v4:#0072b2;--v5:#d55e00}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#f0f6fc;--soft:#9aa5b1;--line:#3d444d;--track:#21262d;--s1:#16344a;--s2:#1f5078;--s3:#2d6f9f;--kept:#79c0ff;--now:#ff9d45;--v4:#4a9fdc;--v5:#f0803c}}
text{font-family:-apple-system,'Segoe UI','Liberation Sans',Helvetica,Arial,sans-serif;font-size:22px;fill:var(--ink)}
.b{font-weight:700}.big{font-size:32px}.head{font-size:30px}.soft{fill:var(--soft)}.end{text-anchor:end}
.page{fill:var(--page);stroke:var(--line)}.edge{fill:none;stroke:var(--ink);stroke-width:1.5}.grid{stroke:var(--line);stroke-width:1}.track{fill:var(--track)}
.s0{fill:transparent}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--kept)}.s5{fill:var(--now)}
`

var fills = [...]string{"transparent", "var(--s1)", "var(--s2)", "var(--s3)", "var(--kept)", "var(--now)"}

// A page collects elements and their animations.
type page struct {
	body, keys, rules bytes.Buffer
	total             float64
	named             map[string]string // keyframes by text
}

// class returns the class of what goes through keyframes; the same ones share one.
func (p *page) class(keyframes, timing string) string {
	name, ok := p.named[timing+keyframes]
	if !ok {
		name = fmt.Sprintf("k%d", len(p.named))
		p.named[timing+keyframes] = name
		fmt.Fprintf(&p.keys, "@keyframes %s{%s}\n", name, keyframes)
		fmt.Fprintf(&p.rules, ".%s{animation:%s %gs %s infinite}\n", name, name, p.total, timing)
	}
	return name
}

// at is a time as a share of the whole.
func (p *page) at(seconds float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", 100*seconds/p.total), "0"), ".") + "%"
}

// shown is the class of what is there from a time to another.
func (p *page) shown(from, to float64) string {
	k := ""
	if from > 0 {
		k = "0%{opacity:0}"
	}
	k += p.at(from) + "{opacity:1}"
	if to < p.total {
		k += p.at(to) + "{opacity:0}"
	}
	return p.class(k, "step-end")
}

func (p *page) text(x, y float64, class, words string) {
	fmt.Fprintf(&p.body, `<text x="%g" y="%g" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(words))
}

// draw writes the scenes and, beside them, the bars of both ladders. Without animation it is the last
// frame.
func draw(list []scene, measured, predicted ladder) []byte {
	p := &page{total: sceneTime*float64(len(list)) + holdTime, named: map[string]string{}}
	fmt.Fprintf(&p.body, `<rect class="page" x="1" y="1" width="%d" height="%d" rx="12"/>`+"\n", width-2, height-2)
	for i, s := range list {
		p.scene(i, s)
	}
	y := float64(top + side*2 + gap + 44)
	for _, sign := range []struct {
		x            float64
		class, words string
	}{{left, "s5", "moving"}, {left + 120, "s4", "kept"}, {left + 214, "s2", "moved before"}} {
		fmt.Fprintf(&p.body, `<rect class="%s" x="%g" y="%g" width="18" height="18"/>`+"\n", sign.class, sign.x, y-17)
		p.text(sign.x+25, y, "", sign.words)
	}
	p.bars(104, "% of peak: "+measured.device+", measured", measured, false)
	p.bars(312, "% of peak: "+predicted.device+", predicted", predicted, true)
	first := measured.rungs[0]
	p.text(left, height-46, "soft", fmt.Sprintf("C = A·B, %s of %d³ · %s, %s", first.DtypeA, first.M, measured.device, measured.made))
	p.text(left, height-18, "soft", fmt.Sprintf("%s by its compiler's schedules, no TPU used, %s", predicted.device, predicted.made))

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(said(measured, predicted)))
	fmt.Fprintf(&b, "<style>%s%s@media(prefers-reduced-motion:no-preference){\n%s}\n</style>\n", style, p.keys.Bytes(), p.rules.Bytes())
	b.Write(p.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// said is the picture in words.
func said(measured, predicted ladder) string {
	of := func(l ladder) string {
		var parts []string
		for i := range l.rungs {
			parts = append(parts, fmt.Sprintf("v%d %.0f", i+1, l.rungs[i].PercentOfPeak.Median))
		}
		return l.device + " " + strings.Join(parts, ", ")
	}
	return "Five matmul kernels in percent of the peak. Measured: " + of(measured) + ". Predicted: " + of(predicted) + "."
}

// scene draws the rung's arrays and counters, which are there in its time alone.
func (p *page) scene(i int, s scene) {
	from := sceneTime * float64(i)
	to := from + sceneTime
	if i == len(ideas)-1 {
		to = p.total
	}
	still := " style=\"opacity:0\""
	if to == p.total {
		still = ""
	}
	fmt.Fprintf(&p.body, `<g class="%s"%s>`+"\n", p.shown(from, to), still)
	fmt.Fprintf(&p.body, `<text x="%d" y="54" class="head"><tspan class="b" style="fill:var(--v%d)">v%d</tspan>  %s</text>`+"\n", left, i+1, i+1, html.EscapeString(ideas[i]))
	p.text(width-left, 54, "end soft", "blocks "+s.blocks)
	right, low := float64(left+side+gap), float64(top+side+gap)
	p.text(left, low-6, "b", "A")
	p.text(right, top-6, "b", "B")
	p.text(right+side+8, low+18, "b", "C")
	frames := len(s.counters)
	times := make([]float64, frames+1)
	for f := range frames {
		times[f] = from + walkTime*float64(f)/float64(frames)
	}
	times[frames] = to
	p.array(s.arrays[0], left, low, times)
	p.array(s.arrays[1], right, top, times)
	p.array(s.arrays[2], right, low, times)
	p.text(left, top+18, "soft", "moved")
	p.text(left, top+92, "soft", "step")
	for f, c := range s.counters {
		class := p.shown(times[f], times[f+1])
		if f < frames-1 {
			class += `" style="opacity:0`
		}
		p.text(left, top+54, "b big "+class, c.moved)
		p.text(left, top+120, class, fmt.Sprintf("%d of %d", c.step, c.steps))
	}
	p.body.WriteString("</g>\n")
}

// array draws an array with its cells at (x, y); times are those of the frames.
func (p *page) array(a array, x, y float64, times []float64) {
	edge := func(block, n, d int) float64 { return side * float64(min(block*n, a.size[d])) / float64(a.size[d]) }
	for cell, states := range a.states {
		r, c := cell/a.cols, cell%a.cols
		x0, y0 := edge(a.block[1], c, 1), edge(a.block[0], r, 0)
		x1, y1 := edge(a.block[1], c+1, 1), edge(a.block[0], r+1, 0)
		k := ""
		for f, s := range states {
			if f == 0 || s != states[f-1] {
				k += p.at(times[f]) + "{fill:" + fills[s] + "}"
			}
		}
		if times[0] > 0 {
			k = "0%{fill:transparent}" + k
		}
		fmt.Fprintf(&p.body, `<rect class="s%d %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", states[len(states)-1], p.class(k, "step-end"), x+x0, y+y0, x1-x0, y1-y0)
	}
	line := func(x0, y0, x1, y1 float64) {
		fmt.Fprintf(&p.body, `<path class="grid" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x0, y0, x1, y1)
	}
	for r := 1; r < a.rows; r++ {
		line(x, y+edge(a.block[0], r, 0), x+side, y+edge(a.block[0], r, 0))
	}
	for c := 1; c < a.cols; c++ {
		line(x+edge(a.block[1], c, 1), y, x+edge(a.block[1], c, 1), y+side)
	}
	fmt.Fprintf(&p.body, `<rect class="edge" x="%g" y="%g" width="%d" height="%d"/>`+"\n", x, y, side, side)
}

// bars draws the share of the peak of each rung, which grows in its scene and stays. What is
// predicted is hollow.
func (p *page) bars(y float64, title string, l ladder, hollow bool) {
	p.text(barLeft-36, y, "b", title)
	best := slices.MaxFunc(l.rungs, func(a, b stats.Summary) int { return int(a.PercentOfPeak.Median*100) - int(b.PercentOfPeak.Median*100) }).PercentOfPeak.Median
	for i := range l.rungs {
		share := l.rungs[i].PercentOfPeak.Median
		row := y + 14 + barRow*float64(i)
		from := sceneTime * float64(i)
		look := fmt.Sprintf("fill:var(--v%d)", i+1)
		if hollow {
			look = fmt.Sprintf("fill:var(--v%d);fill-opacity:.25;stroke:var(--v%d);stroke-width:2;stroke-dasharray:6 3", i+1, i+1)
		}
		p.text(barLeft-36, row+19, "", fmt.Sprintf("v%d", i+1))
		fmt.Fprintf(&p.body, `<rect class="track" x="%d" y="%g" width="%d" height="22"/>`+"\n", barLeft, row, barWidth)
		grow := "0%{clip-path:inset(0 100% 0 0)}" + p.at(from+0.2) + "{clip-path:inset(0 100% 0 0)}" + p.at(from+walkTime) + "{clip-path:inset(0 -2px 0 -2px)}100%{clip-path:inset(0 -2px 0 -2px)}"
		fmt.Fprintf(&p.body, `<rect class="%s" style="%s" x="%d" y="%g" width="%.1f" height="20"/>`+"\n", p.class(grow, "ease-out"), look, barLeft, row+1, barWidth*min(share, 100)/100)
		words := fmt.Sprintf("%.0f %%", share)
		if !l.rungs[i].PercentOfPeak.Holds() {
			words = stats.Noisy + words // of low confidence
		}
		class := p.shown(from+walkTime, p.total)
		if share == best {
			class += " b"
		}
		p.text(barLeft+barWidth+12, row+19, class, words)
	}
}
