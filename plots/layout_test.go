package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/png"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

func decode(data []byte) (image.Image, string, error) { return image.Decode(bytes.NewReader(data)) }

// A word is a text as it lies on the page.
type word struct {
	text string
	box  vg.Rectangle
}

// lie draws p on a recorder and returns every level text and, of a chart or of
// panels, every segment of a curve, recognized by the colours of the series.
func lie(p figure.Picture) (words []word, curves []figure.Segment) {
	colors := map[color.Color]bool{}
	add := func(series []figure.Series) {
		for i := range series {
			colors[series[i].Color] = true
		}
	}
	switch p := p.(type) {
	case *figure.Chart:
		add(p.Series)
	case *figure.Panels:
		for _, row := range p.Rows {
			for _, panel := range row {
				add(panel.Series)
			}
		}
	}
	var rec recorder.Canvas
	w, h := figure.Size(p)
	figure.Draw(p, draw.NewCanvas(&rec, w, h))
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
				sty := text.Style{Font: a.Font, Handler: plot.DefaultTextHandler}
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
					curves = append(curves, figure.Segment{a.Path[i-1].Pos, a.Path[i].Pos})
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
		page.Max.X, page.Max.Y = figure.Size(p)
		words, curves := lie(p)
		ch, ok := p.(*figure.Chart)
		if len(words) < 10 || ok && len(curves) == 0 && name != "size_only_failures" && !ch.Scatter {
			t.Errorf("%s: only %d texts and %d segments of curves", name, len(words), len(curves))
		}
		for i, w := range words {
			if !figure.Inside(w.box, page) {
				t.Errorf("%s: %q leaves the page: %v", name, w.text, w.box)
			}
			for _, o := range words[:i] {
				if figure.Meets(w.box, o.box) {
					t.Errorf("%s: %q and %q overlap", name, w.text, o.text)
				}
			}
			if !(ok && stripText(ch, w)) && slices.ContainsFunc(curves, func(l figure.Segment) bool { return l.Crosses(w.box) }) {
				t.Errorf("%s: a curve runs through %q", name, w.text)
			}
		}
	}
}

// everyKind is what the tests draw, and pictures of each kind of both samples.
func everyKind(t *testing.T) map[string]figure.Picture {
	all := pictures(t)
	cpu, tpu := stats.Summarize(readSample(t, sampleCPU)), stats.Summarize(readSample(t, sampleTPU))
	for _, k := range table {
		if k.name == Compare || k.name == Peers || k.name == Accuracy || k.name == Scaling {
			continue // the samples have no rows for them
		}
		for _, sample := range [][]stats.Summary{cpu, tpu, slices.Concat(cpu, tpu)} {
			asked := map[Request]bool{}
			for _, pair := range Pairs(sample) {
				q := Request{Kind: k.name}
				if k.scope != Whole {
					q.Dtype = pair.Dtype
				}
				if k.scope == PerKernel {
					q.Kernel = pair.Kernel
				}
				if asked[q] {
					continue
				}
				asked[q] = true
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
	var many []results.Record // many dtypes
	for _, dtype := range []string{"bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "int8", "uint8"} {
		for _, size := range []int{512, 1024} {
			r := hand("v5_quant", size, 1e9)
			r.DtypeA, r.DtypeB, r.DtypeOut, r.RelErr = "bfloat16", dtype, "float32", results.Some(1e-3)
			many = append(many, r)
		}
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
func stripText(ch *figure.Chart, w word) bool {
	for _, s := range ch.Series {
		for _, f := range s.Failures {
			if f.Status == w.text || strings.HasSuffix(w.text, "×") {
				return true
			}
		}
	}
	return false
}
