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

	"matladder/internal/cli"
	"matladder/machine"
	"matladder/model"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/stats"
)

// draw draws every picture asked for and prints the path of each as soon as
// it is written. One that cannot be drawn does not stop the others.
func (o *options) draw(ctx context.Context, stdout io.Writer, rows []stats.Summary) error {
	shown := slices.DeleteFunc(slices.Clone(rows), func(s stats.Summary) bool { return s.Interpreted() })
	if len(shown) == 0 && len(rows) > 0 {
		return errInterpreted
	}
	rows = shown
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
		folder := cmp.Or(o.out, besideNewest(list))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("cannot make the folder for the pictures: %w", err)
		}
		for _, p := range pictures {
			path, err := figure.Save(p, folder, o.format)
			if err != nil {
				return err // the next one would fail alike
			}
			fmt.Fprintln(stdout, path)
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
	_, list, err := rebuild(s)
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
		case o.readme != "":
			err = o.rewriteReadme(stdout, rows)
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
	if err != nil {
		for _, err := range split(err) {
			warn(err)
		}
	}
	return cli.Status(err)
}

// split takes errors.Join apart, so that each is a line of its own.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
