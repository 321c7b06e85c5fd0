package plot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/plots/report"
	"matladder/results"
	"matladder/stats"
)

// writeReport writes the page of the points asked for, with the raw rows behind
// them, and prints its path.
func (o *options) writeReport(ctx context.Context, stdout io.Writer, rows []stats.Summary) error {
	list, err := o.summaries(rows)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s stats.Summary) bool { return s.Interpreted() })
	if len(list) == 0 {
		return errInterpreted
	}
	recordings, err := traversals(ctx, list)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.Write(&page, report.Input{Summaries: list, Rows: rowsOf(ctx, list), Traversals: recordings, Pictures: o.gallery(list)}); err != nil {
		return err
	}
	if err := files.Write(o.html, page.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, o.html)
	return err
}

// inReport are the kinds of picture that a report shows as they are; it draws the rest
// of its own, to be explored.
var inReport = []plots.Kind{plots.Blocks, plots.Waterfall, plots.Dispatch, plots.Errors}

// gallery makes the pictures of a report. Most sweeps lack what some kind shows.
func (o *options) gallery(rows []stats.Summary) []figure.Picture {
	var list []figure.Picture
	asked := *o
	for _, kind := range inReport {
		asked.kinds = []plots.Kind{kind}
		for _, q := range asked.requests(rows) {
			if kind == plots.Blocks && !severalShapes(rows, q) {
				continue
			}
			made, err := plots.Pictures(rows, q)
			if err == nil {
				list = append(list, made...)
			}
		}
	}
	return list
}

// severalShapes says whether there is a choice of blocks to show.
func severalShapes(rows []stats.Summary, q plots.Request) bool {
	shapes := map[string]string{} // the first of each size
	for i := range rows {
		s := &rows[i]
		if s.Kernel != q.Kernel || s.DtypeA != q.Dtype {
			continue
		}
		if first, ok := shapes[s.Size()]; ok && first != s.Blocks() {
			return true
		}
		shapes[s.Size()] = s.Blocks()
	}
	return false
}

// rowsOf reads the rows of the points again, a row at a time. What is wrong
// with others was told when they were summarized.
func rowsOf(ctx context.Context, list []stats.Summary) iter.Seq2[*results.Record, error] {
	type point struct {
		file string
		key  results.PointKey
	}
	asked := map[point]bool{}
	var files []string
	for i := range list {
		file := list[i].Pos.File
		files = each.With(files, file)
		asked[point{file, list[i].Point()}] = true
	}
	return func(yield func(*results.Record, error) bool) {
		enough := errors.New("no more rows are wanted")
		for _, file := range files {
			_, err := results.ReadRows(ctx, file, func(r *results.Record) error {
				if asked[point{file, r.Point()}] && !yield(r, nil) {
					return enough
				}
				return nil
			})
			if err == enough || err != nil && !yield(nil, err) {
				return
			}
		}
	}
}
