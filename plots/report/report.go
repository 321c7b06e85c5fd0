package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"iter"
	"slices"
	"strings"

	"matladder/model/traverse"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/plots/report/echarts"
	"matladder/results"
	"matladder/stats"
)

// Input is what a report shows.
type Input struct {
	// Summaries are the points. Interpreted ones are left out.
	Summaries []stats.Summary
	// Rows are the raw rows for the download, usually those behind the
	// summaries. They are gone through twice and never held together. Nil for none.
	Rows iter.Seq2[*results.Record, error]
	// Traversals are what the player offers, in its order; none for no player.
	Traversals []*traverse.Recording
	// Pictures are shown as they are, those of a kind together, in this order.
	Pictures []figure.Picture
}

//go:embed page/page.html
var pageText string

//go:embed page/*.js page/*.css page/history.html
var parts embed.FS

// scripts are the page's own, in the order in which they need each other.
var scripts = []string{"data.js", "filter.js", "chart.js", "rate.js", "roofline.js", "table.js", "main.js"}

var (
	page    = template.Must(template.New("page").Parse(pageText))
	history = template.Must(template.ParseFS(parts, "page/history.html"))
)

// Write writes the page. Equal inputs make equal pages.
func Write(w io.Writer, in Input) error {
	summaries := slices.DeleteFunc(slices.Clone(in.Summaries), func(s stats.Summary) bool { return s.Interpreted() })
	if len(summaries) == 0 {
		return errors.New("no point to report")
	}
	if in.Rows == nil {
		in.Rows = func(func(*results.Record, error) bool) {}
	}
	points := newPoints(summaries)
	provenance, columns, err := newProvenance(summaries, in.Rows)
	if err != nil {
		return err
	}
	csv, err := pack(in.Rows, columns)
	if err != nil {
		return fmt.Errorf("cannot pack the rows: %w", err)
	}
	data, err := script(points)
	if err != nil {
		return err
	}
	traversals, err := script(in.Traversals)
	if err != nil {
		return err
	}
	var own strings.Builder
	for _, name := range scripts {
		text, err := parts.ReadFile("page/" + name)
		if err != nil {
			return err
		}
		own.Write(text)
	}
	style, err := parts.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"Title":      provenance.title(),
		"Style":      template.CSS(string(style) + traverse.PlayerCSS),
		"ECharts":    template.JS(echarts.JS),
		"Player":     template.JS(traverse.PlayerJS),
		"Own":        template.JS(own.String()),
		"Data":       data,
		"Traversals": traversals,
		"HasPlayer":  len(in.Traversals) > 0,
		"Pictures":   gallery(in.Pictures),
		"CSV":        template.HTML(csv), // base64 has nothing to escape
		"CSVName":    provenance.fileName(),
		"Provenance": provenance,
		"Library":    "Apache ECharts " + echarts.Version + " (" + echarts.Licence + ")",
	})
}

// WriteHistory writes a page with a table of changes and a picture of them.
func WriteHistory(w io.Writer, table stats.Ladder, picture figure.Picture) error {
	style, err := parts.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	return history.Execute(w, map[string]any{
		"Title": picture.Head().Title, "Style": template.CSS(style),
		"Sections": table.Sections, "Notes": table.Notes, "Pictures": gallery([]figure.Picture{picture}),
	})
}

// script is v as JSON that is safe inside a script element: Marshal escapes
// every < and > in a text.
func script(v any) (template.JS, error) {
	text, err := json.Marshal(v)
	return template.JS(text), err
}

// pack returns the rows as CSV, compressed with gzip and written in base64. Rows repeat themselves:
// this is a tenth of them or less. columns are those that they have beside the known ones.
func pack(rows iter.Seq2[*results.Record, error], columns []string) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	w, err := results.NewWriter(z, columns...)
	if err != nil {
		return "", err
	}
	for r, err := range rows {
		if err == nil {
			err = w.Write(r)
		}
		if err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// A kindOfPicture is a part of the page with the pictures of one kind.
type kindOfPicture struct {
	Kind, Title, About string
	Images             []image
}

// An image is one picture in the page's text; without Data the title says why there is none.
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
