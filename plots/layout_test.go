package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/png"
	"math"
	"slices"
	"testing"

	"matladder/stats"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"matladder/results"
)

func decode(data []byte) (image.Image, string, error) { return image.Decode(bytes.NewReader(data)) }

// A word is a text as it lies on the page.
type word struct {
	text string
	box  vg.Rectangle
}

// lie draws p on a recorder and returns every level text and, of a chart or of
// panels, every segment of a curve, recognized by the colours of the series.
func lie(p Picture) (words []word, curves [][2]vg.Point) {
	colors := map[color.Color]bool{}
	add := func(series []Series) {
		for i := range series {
			colors[series[i].color()] = true
		}
	}
	switch p := p.(type) {
	case *Chart:
		add(p.Series)
	case *Panels:
		for _, row := range p.Rows {
			for _, panel := range row {
				add(panel.Series)
			}
		}
	}
	var rec recorder.Canvas
	w, h := p.Size()
	p.Draw(draw.NewCanvas(&rec, w, h))
	var ink color.Color
	turned, depth := map[int]bool{}, 0
	for _, a := range rec.Actions {
		switch a := a.(type) {
		case *recorder.Push:
			depth++
			turned[depth] = turned[depth-1]
		case *recorder.Pop:
			depth--
		case *recorder.Rotate:
			turned[depth] = turned[depth] || a.Angle != 0
		case *recorder.SetColor:
			ink = a.Color
		case *recorder.FillString:
			if !turned[depth] {
				sty := style(a.Size, ink)
				sty.Font = a.Font
				sty.Font.Size = a.Size
				words = append(words, word{a.String, vg.Rectangle{
					Min: a.Point,
					Max: vg.Point{X: a.Point.X + sty.Width(a.String), Y: a.Point.Y + a.Size*0.7},
				}})
			}
		case *recorder.Stroke:
			if !colors[ink] {
				continue
			}
			for i := 1; i < len(a.Path); i++ {
				if a.Path[i].Type == vg.LineComp {
					curves = append(curves, [2]vg.Point{a.Path[i-1].Pos, a.Path[i].Pos})
				}
			}
		}
	}
	return words, curves
}

// TestLayout holds every picture to: no text leaves the page, none lies on
// another, none on a curve.
func TestLayout(t *testing.T) {
	for name, p := range everyKind(t) {
		var page vg.Rectangle
		page.Max.X, page.Max.Y = p.Size()
		words, curves := lie(p)
		ch, ok := p.(*Chart)
		if len(words) < 10 || ok && len(curves) == 0 && name != "size_only_failures" && !ch.scatter() {
			t.Errorf("%s: only %d texts and %d segments of curves", name, len(words), len(curves))
		}
		for i, w := range words {
			if !inside(w.box, page) {
				t.Errorf("%s: %q leaves the page: %v", name, w.text, w.box)
			}
			for _, o := range words[:i] {
				if meets(w.box, o.box) {
					t.Errorf("%s: %q and %q overlap", name, w.text, o.text)
				}
			}
			if !(ok && stripText(ch, w)) && crossedByAny(w.box, curves) {
				t.Errorf("%s: a curve runs through %q", name, w.text)
			}
		}
	}
}

// everyKind is what the tests draw, and pictures of each kind of both samples.
func everyKind(t *testing.T) map[string]Picture {
	all := pictures(t)
	cpu, tpu := stats.Summarize(readSample(t, sampleCPU)), stats.Summarize(readSample(t, sampleTPU))
	for _, k := range table {
		if k.name == Compare || k.name == Peers || k.name == Accuracy || k.name == Scaling {
			continue // the samples have no rows for them
		}
		for _, sample := range [][]stats.Summary{cpu, tpu, slices.Concat(cpu, tpu)} {
			q := Request{Kind: k.name}
			for _, pair := range Pairs(sample) {
				if k.scope != Whole {
					q.Dtype = pair.Dtype
				}
				if k.scope == PerKernel {
					q.Kernel = pair.Kernel
				}
				list, err := Pictures(sample, q)
				if err != nil {
					continue // of a kernel that has no such picture
				}
				for i, p := range list {
					all[fmt.Sprintf("%s %d %d", p.Head().Name, len(sample), i)] = p
				}
			}
		}
	}
	var many []results.Record // more dtypes than have room for their names
	for _, dtype := range []string{"bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "int8", "uint8"} {
		r := hand("v5_quant", 512, 1e9)
		r.DtypeA, r.DtypeB, r.DtypeOut, r.RelErr = "bfloat16", dtype, "float32", results.Some(1e-3)
		many = append(many, r)
	}
	list, err := Pictures(stats.Summarize(many), Request{Kind: Errors})
	if err != nil {
		t.Fatal(err)
	}
	all["errors of many dtypes"] = list[0]
	return all
}

// stripText tells the words under the axis, whose own rules have the colour
// of their series.
func stripText(ch *Chart, w word) bool {
	for _, row := range ch.strip().rows {
		for _, cell := range row.cells {
			if cell.text == w.text {
				return true
			}
		}
	}
	return false
}

// TestArrows_Apart has rungs of equal rates, from one to another and back: the two arrows
// do not lie on each other.
func TestArrows_Apart(t *testing.T) {
	low, high := Point{X: 60, Y: 300}, Point{X: 200, Y: 480}
	ch := &Chart{Arrows: []Arrow{{high, low}, {low, high}}, X: Axis{Min: 10, Max: 1000}, Y: Axis{Min: 100, Max: 1000}}
	f := frame{box: around(vg.Point{X: 300, Y: 200}, 250, 150), x: ch.X, y: ch.Y}
	ways := ch.arrowWays(f)
	if len(ways) != 2 {
		t.Fatalf("%d arrows of 2", len(ways))
	}
	there, back := ways[0], ways[1]
	for i, from := range there[2 : len(there)-2] {
		to := back[len(back)-3-i]
		if d := math.Hypot(float64(from.X-to.X), float64(from.Y-to.Y)); d < 6 {
			t.Errorf("%.1f points apart at piece %d", d, i+2)
		}
	}
}
