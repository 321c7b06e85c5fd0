package plot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/internal/words"
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
			if made, err := plots.Pictures(rows, q); err == nil {
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

// errFaulty is for files that have nothing else.
var errFaulty = errors.New("all rows are by --fault, of outputs damaged on purpose; --as text and the FILE show them")

// whole leaves out rows by --fault, which show what the check says and nothing of kernels. A
// table of files that were named has them.
func (o *options) whole(rows []stats.Summary, warn func(error)) ([]stats.Summary, error) {
	if o.table != "" && len(o.inputs) > 0 {
		return rows, nil
	}
	var order []string
	count := map[string]int{}
	list := each.That(rows, func(s stats.Summary) bool {
		if s.Fault != "" {
			order = each.With(order, s.Pos.File)
			count[s.Pos.File]++
		}
		return s.Fault == ""
	})
	if len(list) == 0 && len(rows) > 0 {
		return nil, errFaulty
	}
	for _, file := range order {
		warn(fmt.Errorf("%s: points by --fault are left out (%d), their outputs were damaged on purpose", file, count[file]))
	}
	return list, nil
}

// provenance says what a reader of what was drawn should know of where it is from: files
// whose sweep has not ended, and machines other than this one, or several.
func (o *options) provenance(warn func(error)) {
	named := len(o.inputs) > 0
	here, _ := hostname()
	var files, chips []string
	hosts := map[string][]string{} // by chip: of several chips there is no common picture
	for i := range o.used {
		s := &o.used[i]
		if !slices.Contains(files, s.Pos.File) {
			files = append(files, s.Pos.File)
			if s.Partial {
				warn(fmt.Errorf("%s is partial: its sweep has not ended; to go on: bench --resume --out %s", s.Pos.File, s.Pos.File))
			}
			if !named && s.Mode == results.Measured && s.Host != "" && s.Host != here {
				warn(fmt.Errorf("%s is of another machine, %s; this one is %s", s.Pos.File, s.Host, here))
			}
		}
		chip := cmp.Or(s.Chip, s.Device)
		if s.Mode == results.Measured && s.Host != "" && named {
			chips, hosts[chip] = each.With(chips, chip), each.With(hosts[chip], s.Host)
		}
	}
	for _, chip := range chips {
		list := hosts[chip]
		if len(list) < 2 {
			continue
		}
		warn(fmt.Errorf("measurements of %d machines with %s are shown together: %s", len(list), cmp.Or(chip, "an unknown chip"), words.First(list, 4, ", ")))
	}
}

// hostname names this machine; tests have rows of another one.
var hostname = os.Hostname

// summaries returns the newest of each dtype and kernel asked for.
func (o *options) summaries(rows []stats.Summary) ([]stats.Summary, error) {
	var list []stats.Summary
	var failed []error
	var done []plots.Pair
	has := o.has(rows)
	for _, p := range o.pairs(rows) {
		if !slices.Contains(has, p) {
			failed = append(failed, &plots.NoRowsError{Request: plots.Request{Family: p.Family, Kernel: p.Kernel, Dtype: p.Dtype}, Has: has})
			continue
		}
		if len(o.kernels) == 0 {
			p.Kernel = ""
		}
		if slices.Contains(done, p) {
			continue
		}
		done = append(done, p)
		list = append(list, each.That(o.newest(rows, p), func(s stats.Summary) bool { return isOf(s, p) })...)
	}
	return list, errors.Join(failed...)
}

// writeTable writes the table asked for.
func (o *options) writeTable(w io.Writer, rows []stats.Summary) error {
	list, err := o.summaries(rows)
	if err != nil {
		return err
	}
	if len(o.kernels) == 0 {
		list = stats.Shown(o.table, list)
	}
	return stats.WriteTable(w, o.table, list, o.columns...)
}
