package plot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"matladder/internal/cli"
	"matladder/plots"
	"matladder/results"
	"matladder/stats"
)

const (
	defaultFolder = "out"
	defaultInput  = defaultFolder + "/*.csv"
)

// errNoResults names the command that makes results.
var errNoResults = errors.New("no results in " + defaultInput + "; make them with: go run ./cmd/bench")

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
	return nil, errNoResults
}

// check refuses files that do not go with the flags: of --html the page itself and
// what can be read only once, and all but two for pictures that compare.
func (o *options) check(paths []string) error {
	if draws := o.table == "" && o.readme == "" && o.html == ""; draws && len(o.kinds) == 1 && o.kinds[0] == plots.Compare && len(paths) != 2 {
		return fmt.Errorf("--as %s holds one results file against another: it takes two, the old one first, and there %s", plots.Compare, isOrAre(len(paths)))
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

// isOrAre says how many there are.
func isOrAre(n int) string {
	if n == 1 {
		return "is 1"
	}
	return fmt.Sprintf("are %d", n)
}

// pairs returns the kernels and dtypes asked for: the flags, filled up from what the rows have.
func (o *options) pairs(rows []stats.Summary) []plots.Pair {
	has := o.has(rows)
	dtypes, names := o.dtypes, o.kernels
	if len(dtypes) > 0 && len(names) > 0 {
		var list []plots.Pair
		for _, p := range names {
			for _, p.Dtype = range dtypes {
				list = append(list, p)
			}
		}
		return list
	}
	var list []plots.Pair
	for _, kernel := range names {
		if !slices.ContainsFunc(has, func(p plots.Pair) bool { return p.Family == kernel.Family && p.Kernel == kernel.Kernel }) {
			list = append(list, kernel) // for the error it leads to
		}
	}
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
	for _, s := range list {
		if (p.Family == "" || s.FamilyName() == p.Family) && (p.Kernel == "" || s.Kernel == p.Kernel) && (p.Dtype == "" || s.DtypeA == p.Dtype) {
			o.used = append(o.used, s)
		}
	}
	return list
}
