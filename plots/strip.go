package plots

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"matladder/results"
)

// A strip lies under the labels of the x axis and has one row of words for
// each series that has failures: what cannot be drawn as a value stands where
// it belongs on the axis and never on a curve.
type strip struct {
	rows   []stripRow
	ridges []Roof
	ticks  []Tick
	unit   string // of the x axis
}

type stripRow struct {
	label string
	color color.NRGBA
	cells []stripCell
}

// A stripCell is a word under one x.
type stripCell struct {
	x    float64
	text string
}

// maxStripRows is how many series can have a row each; more share one row for
// each status, which counts them.
const maxStripRows = 5

func (ch *Chart) strip() strip {
	st := strip{ticks: ch.X.Ticks, unit: ch.X.Unit.Name}
	if ch.Kind == Roofline {
		st.ridges = ch.Roofs
		return st
	}
	counts := map[string]map[float64]int{}
	var statuses []string
	for i := len(ch.Series) - 1; i >= 0; i-- {
		s := &ch.Series[i]
		if len(s.Failures) == 0 {
			continue
		}
		row := stripRow{label: shorten(s.Label, st.style()), color: textColor(s.color())}
		for _, f := range s.Failures {
			row.cells = append(row.cells, stripCell{f.X, f.Status})
			if counts[f.Status] == nil {
				counts[f.Status] = map[float64]int{}
				statuses = append(statuses, f.Status)
			}
			counts[f.Status][f.X]++
		}
		st.rows = append(st.rows, row)
	}
	if len(st.rows) <= maxStripRows {
		return st
	}
	st.rows = nil
	for _, status := range statuses {
		row := stripRow{label: status, color: ink}
		for x, n := range counts[status] {
			row.cells = append(row.cells, stripCell{x, fmt.Sprintf("%d×", n)})
		}
		st.rows = append(st.rows, row)
	}
	return st
}

func (st strip) style() text.Style { return aligned(style(smallSize, ink), text.XCenter, text.YTop) }

func (st strip) height() vg.Length {
	rows := len(st.rows)
	if len(st.ridges) > 0 {
		rows = 1
	}
	if rows == 0 {
		return 0
	}
	return vg.Length(rows)*lineHeight(st.style()) + 4
}

// labelWidth is what the names of the rows need right of the axes.
func (st strip) labelWidth() vg.Length {
	var w vg.Length
	for _, row := range st.rows {
		w = max(w, st.style().Width(row.label)+labelGap+markerSpace)
	}
	return w
}

// draw writes the strip from top down under the data area, and a cross on the
// axis for every cell.
func (st strip) draw(c draw.Canvas, f frame) {
	sty := st.style()
	y := f.box.Min.Y - f.xHeight() - 3
	for _, r := range st.ridges {
		if ridge, known := r.Ridge(); known && !r.Other {
			sty.Color = softInk
			c.FillText(sty, vg.Point{X: f.X(ridge), Y: y}, "ridge "+digits(ridge)+" "+st.unit)
		}
	}
	crosses := map[float64]color.NRGBA{}
	for _, row := range st.rows {
		sty.Color = row.color
		for _, run := range st.runs(row.cells) {
			from, to := f.X(run[0].x), f.X(run[len(run)-1].x)
			c.FillText(sty, vg.Point{X: (from + to) / 2, Y: y}, run[0].text)
			if half := sty.Width(run[0].text)/2 + 4; len(run) > 1 && to-from > 2*half {
				line := draw.LineStyle{Color: row.color, Width: 0.8}
				middle := y - sty.Font.Size*0.6
				c.StrokeLine2(line, from, middle, (from+to)/2-half, middle)
				c.StrokeLine2(line, (from+to)/2+half, middle, to, middle)
			}
		}
		for _, cell := range row.cells {
			if cell.text == string(results.Skipped) {
				continue // nothing was tried
			}
			if _, taken := crosses[cell.x]; taken {
				crosses[cell.x] = ink
			} else {
				crosses[cell.x] = row.color
			}
		}
		label := sty
		label.XAlign = text.XLeft
		c.FillText(label, vg.Point{X: f.box.Max.X + labelGap + markerSpace, Y: y}, row.label)
		y -= lineHeight(sty)
	}
	for at, color := range crosses {
		drawCross(c, vg.Point{X: f.X(at), Y: f.box.Min.Y}, color)
	}
}

// runs splits cells into runs of one word under neighbouring ticks.
func (st strip) runs(cells []stripCell) [][]stripCell {
	cells = slices.Clone(cells)
	slices.SortFunc(cells, func(a, b stripCell) int {
		if a.x < b.x {
			return -1
		}
		return 1
	})
	var runs [][]stripCell
	for _, cell := range cells {
		if n := len(runs); n > 0 {
			last := runs[n-1][len(runs[n-1])-1]
			if last.text == cell.text && st.index(cell.x) == st.index(last.x)+1 {
				runs[n-1] = append(runs[n-1], cell)
				continue
			}
		}
		runs = append(runs, []stripCell{cell})
	}
	return runs
}

func (st strip) index(x float64) int {
	return slices.IndexFunc(st.ticks, func(t Tick) bool { return t.Value == x })
}

func drawCross(c draw.Canvas, at vg.Point, col color.NRGBA) {
	const r = 4.5
	for _, pass := range []draw.LineStyle{{Color: white, Width: 4}, {Color: col, Width: 2}} {
		c.StrokeLine2(pass, at.X-r, at.Y-r, at.X+r, at.Y+r)
		c.StrokeLine2(pass, at.X-r, at.Y+r, at.X+r, at.Y-r)
	}
}
