package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	cells []Failure // words under the axis
}

func (ch *Chart) strip() strip {
	st := strip{ticks: ch.X.Ticks, unit: ch.X.Unit.Name}
	if ch.Slopes {
		st.ridges = ch.Roofs
		return st
	}
	var counted []stripRow // a row a status
	for i := range ch.Series {
		s := &ch.Series[len(ch.Series)-1-i]
		if len(s.Failures) > 0 {
			st.rows = append(st.rows, stripRow{shorten(s.Label, tickStyle), TextColor(s.Color), s.Failures})
		}
		for _, f := range s.Failures {
			at := slices.IndexFunc(counted, func(r stripRow) bool { return r.label == f.Status })
			if at < 0 {
				at, counted = len(counted), append(counted, stripRow{label: f.Status, color: Ink})
			}
			counted[at].cells = append(counted[at].cells, f)
		}
	}
	const most = 5 // series that can have a row each
	if len(st.rows) <= most {
		return st
	}
	for i := range counted {
		r := &counted[i]
		count := map[float64]int{}
		for _, f := range r.cells {
			count[f.X]++
		}
		r.cells = nil
		for x, n := range count {
			r.cells = append(r.cells, Failure{X: x, Status: fmt.Sprintf("%d×", n)})
		}
	}
	st.rows = counted
	return st
}

func (st strip) height() vg.Length {
	rows := len(st.rows) + min(1, len(st.ridges)) // of which it has one kind
	if rows == 0 {
		return 0
	}
	return vg.Length(rows)*lineHeight(tickStyle) + 4
}

// labelWidth is what the names of the rows need right of the axes.
func (st strip) labelWidth() vg.Length {
	return each.Most(st.rows, func(row stripRow) vg.Length { return tickStyle.Width(row.label) + labelGap + markerSpace })
}

// draw writes the strip from top down under the data area, and a cross on the axis for every cell.
func (st strip) draw(c draw.Canvas, f frame) {
	y := f.box.Min.Y - f.xHeight() - 3
	sty := style(smallSize, SoftInk, text.XCenter, text.YTop)
	for _, r := range st.ridges {
		if ridge, known := r.Ridge(); known && !r.Other {
			write(c, sty, f.X(ridge), y, "ridge "+Digits(ridge)+" "+st.unit)
		}
	}
	crosses := map[float64]color.NRGBA{}
	for _, row := range st.rows {
		sty.Color = row.color
		for _, run := range st.runs(row.cells) {
			word, from, to := run[0].Status, f.X(run[0].X), f.X(run[len(run)-1].X)
			write(c, sty, (from+to)/2, y, word)
			if half := sty.Width(word)/2 + 4; len(run) > 1 && to-from > 2*half {
				line := draw.LineStyle{Color: row.color, Width: 0.8}
				middle := y - sty.Font.Size*0.6
				c.StrokeLine2(line, from, middle, (from+to)/2-half, middle)
				c.StrokeLine2(line, (from+to)/2+half, middle, to, middle)
			}
		}
		for _, cell := range row.cells {
			if cell.Untried {
				continue
			}
			if _, taken := crosses[cell.X]; taken {
				crosses[cell.X] = Ink
			} else {
				crosses[cell.X] = row.color
			}
		}
		label := sty
		label.XAlign = text.XLeft
		write(c, label, f.box.Max.X+labelGap+markerSpace, y, row.label)
		y -= lineHeight(sty)
	}
	for _, at := range slices.Sorted(maps.Keys(crosses)) {
		drawCross(c, vg.Point{X: f.X(at), Y: f.box.Min.Y}, crosses[at])
	}
}

// runs splits cells into runs of one word under neighbouring ticks.
func (st strip) runs(cells []Failure) (runs [][]Failure) {
	cells = slices.Clone(cells)
	slices.SortFunc(cells, func(a, b Failure) int { return cmp.Compare(a.X, b.X) })
	index := func(x float64) int {
		return slices.IndexFunc(st.ticks, func(t Tick) bool { return t.Value == x })
	}
	for i, cell := range cells {
		if i > 0 && cells[i-1].Status == cell.Status && index(cell.X) == index(cells[i-1].X)+1 {
			runs[len(runs)-1] = append(runs[len(runs)-1], cell)
		} else {
			runs = append(runs, []Failure{cell})
		}
	}
	return runs
}

func drawCross(c draw.Canvas, at vg.Point, col color.NRGBA) {
	const r = 4.5
	for _, pass := range []draw.LineStyle{{Color: White, Width: 4}, {Color: col, Width: 2}} {
		c.StrokeLine2(pass, at.X-r, at.Y-r, at.X+r, at.Y+r)
		c.StrokeLine2(pass, at.X-r, at.Y+r, at.X+r, at.Y-r)
	}
}
