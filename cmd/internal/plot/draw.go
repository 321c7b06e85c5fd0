// Package plot is command plot: it draws results, or writes them as a page or a table.
package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/model"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// draw draws every picture asked for and prints the path of each as soon as
// it is written. One that cannot be drawn does not stop the others.
func (o *options) draw(ctx context.Context, stdout io.Writer, rows []stats.Summary) error {
	given := len(rows)
	if rows = each.That(rows, func(s stats.Summary) bool { return !s.Interpreted() }); len(rows) == 0 && given > 0 {
		return errInterpreted
	}
	var failed []error
	for _, q := range o.requests(rows) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		list := o.newest(rows, plots.Pair{Family: q.Family, Kernel: q.Kernel, Dtype: q.Dtype})
		pictures, err := plots.Pictures(list, q)
		if missing := new(plots.NoRowsError); errors.As(err, &missing) {
			missing.Has = plots.Pairs(rows)
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err := figure.Save(pictures, cmp.Or(o.out, besideNewest(list)), o.format, func(path string) { fmt.Fprintln(stdout, path) }); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

var errInterpreted = errors.New("all rows are of variant interpret: what kernels mean, run step by step; no picture shows that, --as text does")

// requests lists the pictures of each kind, as its scope says.
func (o *options) requests(rows []stats.Summary) []plots.Request {
	var list []plots.Request
	seen := map[plots.Request]bool{}
	for _, kind := range o.kinds {
		for _, p := range o.pairs(rows) {
			q := plots.Request{Kind: kind, Family: p.Family, Kernel: p.Kernel, Dtype: p.Dtype, Model: programs{}, AllBlocks: o.blocks != ""}
			switch kind.Scope() {
			case plots.All:
				q.Family, q.Kernel, q.Dtype = "", "", ""
			case plots.Whole:
				q.Kernel, q.Dtype = "", ""
			case plots.PerDtype:
				q.Kernel = ""
			}
			if !seen[q] {
				seen[q] = true
				list = append(list, q)
			}
		}
	}
	return list
}

// besideNewest returns the folder of the file that was started last; of a pipe, which
// has no folder to write to, the working folder.
func besideNewest(rows []stats.Summary) string {
	latest := slices.MaxFunc(rows, func(a, b stats.Summary) int { return a.Latest.Compare(b.Latest) })
	if info, err := os.Stat(latest.Pos.File); err == nil && !info.Mode().IsRegular() {
		return "."
	}
	return filepath.Dir(latest.Pos.File)
}

// programs is a plots.StepModel: it builds the program of a point anew and asks package model.
type programs struct{}

// Step returns the step model's times of a point. The error says what of the
// device or the point is not known.
func (programs) Step(s *stats.Summary) (model.Time, error) {
	device, ok := machine.Lookup(s.Chip)
	if !ok {
		return model.Time{}, fmt.Errorf("no chip %q", s.Chip)
	}
	_, list, err := harness.Rebuild(&s.Record)
	if err != nil {
		return model.Time{}, err
	}
	if len(list) != 1 {
		return model.Time{}, fmt.Errorf("%s runs %d programs: there is no one step", s.Kernel, len(list))
	}
	work, err := model.WorkOf(list[0])
	if err != nil {
		return model.Time{}, err
	}
	return work.On(device, s.DtypeA, s.Precision)
}

// Run is the command: it writes what was asked for and returns the exit status.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if err != nil {
		return cli.End("plot", cli.Input("", err), "", stdout, stderr)
	}
	warn := func(err error) { fmt.Fprintf(stderr, "plot: %v\n", err) }
	rows, err := o.read(ctx, warn)
	if err == nil {
		rows, err = o.whole(rows, warn)
	}
	if err == nil {
		switch {
		case o.table != "":
			err = o.writeTable(stdout, rows)
		case o.html != "":
			err = o.writeReport(ctx, stdout, rows)
		default:
			err = o.draw(ctx, stdout, rows)
		}
	}
	o.provenance(warn)
	if errors.Is(err, context.Canceled) {
		warn(errors.New("interrupted"))
		return cli.Interrupted
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // each is a line of its own
		list = joined.Unwrap()
	}
	for _, one := range list {
		if one != nil {
			warn(one)
		}
	}
	return cli.Status(err)
}

const (
	defaultFolder = "out"
	defaultInput  = defaultFolder + "/*.csv"
)

// read summarizes the rows of all input files. What a file has beside whole good
// rows goes to warn. A file that was named must be readable; one that merely
// lies in out/ is left aside with a warning if it is not.
func (o *options) read(ctx context.Context, warn func(error)) ([]stats.Summary, error) {
	named := len(o.inputs) > 0
	var paths []string
	var err error
	if named {
		paths, err = results.Files(o.inputs...)
	} else {
		paths, err = filepath.Glob(filepath.FromSlash(defaultInput))
	}
	if err == nil && len(paths) > 0 {
		err = o.check(paths)
	}
	if err != nil {
		return nil, cli.Input("", err)
	}
	var rows stats.Summarizer
	for _, path := range paths {
		f, err := rows.AddFile(ctx, path)
		if err != nil {
			if named || ctx.Err() != nil {
				return nil, cli.Input("", err)
			}
			warn(err)
			continue
		}
		for _, w := range f.Warnings() {
			warn(w)
		}
	}
	summaries := rows.Summaries()
	switch {
	case len(summaries) > 0:
		return summaries, nil
	case named:
		return nil, errors.New("the input files have no rows; make some with: go run ./cmd/bench")
	}
	return nil, errors.New("no results in " + defaultInput + "; make them with: go run ./cmd/bench")
}

// check refuses files that do not go with the flags: of --html the page itself and
// what can be read only once, and all but two for pictures that compare.
func (o *options) check(paths []string) error {
	if draws := o.table == "" && o.html == ""; draws && len(o.kinds) == 1 && o.kinds[0] == plots.Compare && len(paths) != 2 {
		there := fmt.Sprintf("are %d", len(paths))
		if len(paths) == 1 {
			there = "is 1"
		}
		return fmt.Errorf("--as %s holds one results file against another: it takes two, the old one first, and there %s", plots.Compare, there)
	}
	if o.html == "" {
		return nil
	}
	page, err := os.Stat(o.html)
	for _, path := range paths {
		switch in, inErr := os.Stat(path); {
		case inErr != nil: // told by who opens it
		case err == nil && os.SameFile(in, page):
			return fmt.Errorf("%s is the file that --html would write", path)
		case !in.IsDir() && !in.Mode().IsRegular():
			return fmt.Errorf("%s can be read once, and --html reads rows twice: write them to a file first", path)
		}
	}
	return nil
}

// pairs returns the kernels and dtypes asked for: the flags, filled up from what the rows have.
func (o *options) pairs(rows []stats.Summary) []plots.Pair {
	has := o.has(rows)
	dtypes, names := o.dtypes, o.kernels
	var list []plots.Pair
	if len(dtypes) > 0 && len(names) > 0 {
		for _, p := range names {
			for _, p.Dtype = range dtypes {
				list = append(list, p)
			}
		}
		return list
	}
	list = each.That(names, func(kernel plots.Pair) bool { // for the error it leads to
		return !slices.ContainsFunc(has, func(p plots.Pair) bool { return p.Family == kernel.Family && p.Kernel == kernel.Kernel })
	})
	for _, dtype := range dtypes {
		if !slices.ContainsFunc(has, func(p plots.Pair) bool { return p.Dtype == dtype }) {
			list = append(list, plots.Pair{Dtype: dtype})
		}
	}
	if o.family != nil && len(has) == 0 && len(list) == 0 {
		list = append(list, plots.Pair{Family: o.family.Name})
	}
	for _, p := range has {
		kernel := plots.Pair{Family: p.Family, Kernel: p.Kernel}
		if (len(names) == 0 || slices.Contains(names, kernel)) && (len(dtypes) == 0 || slices.Contains(dtypes, p.Dtype)) {
			list = append(list, p)
		}
	}
	return list
}

// has are the kernels and dtypes of the rows, of the family asked for.
func (o *options) has(rows []stats.Summary) []plots.Pair {
	return slices.DeleteFunc(plots.Pairs(rows), func(p plots.Pair) bool { return o.family != nil && p.Family != o.family.Name })
}

// newest returns the rows from which to show a kernel and a dtype: all of
// them if files were named, else those of the newest file that has both.
func (o *options) newest(rows []stats.Summary, p plots.Pair) (list []stats.Summary) {
	if len(o.inputs) == 0 {
		list = stats.Newest(rows, p.Family, p.Kernel, p.Dtype)
	}
	if list == nil {
		list = rows // those that were named, or for the error that says what there is
	}
	o.used = append(o.used, each.That(list, func(s stats.Summary) bool { return isOf(s, p) })...)
	return list
}

// isOf reports whether a summary is of what a pair has; what it leaves empty is not filtered by.
func isOf(s stats.Summary, p plots.Pair) bool {
	return (p.Family == "" || s.FamilyName() == p.Family) && (p.Kernel == "" || s.Kernel == p.Kernel) && (p.Dtype == "" || s.DtypeA == p.Dtype)
}
