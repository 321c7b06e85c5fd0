package compare

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/plots/report"
	"matladder/stats"
)

// runHistory writes what became of each point over the results files of a folder.
func (o *options) runHistory(ctx context.Context, stdout io.Writer, warn func(error)) error {
	paths, err := resultsIn(o.history)
	if err != nil {
		return err
	}
	var all, rows []stats.Summary
	for _, path := range paths {
		some, picked, err := o.summarize(ctx, path, warn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // of no other interest
			warn(err)
			continue
		}
		all, rows = append(all, some...), append(rows, picked...)
	}
	if len(rows) == 0 {
		return noRows(o.history, all)
	}
	series := stats.History(rows, o.band, o.best)
	list := slices.Concat(each.Of(series, func(s stats.Series) []stats.Comparison { return s.Changes })...)
	latest := each.Of(series, func(s stats.Series) stats.Comparison { return s.Changes[len(s.Changes)-1] })
	if len(list) == 0 {
		return fmt.Errorf("%s has no point with a time", o.history)
	}
	if err := stats.WriteComparisons(stdout, o.as, list); err != nil {
		return err
	}
	for _, path := range o.out {
		if err := writeHistory(path, series, list); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(stdout, path); err != nil {
			return err
		}
	}
	return o.judge(latest)
}

// resultsIn are the results files and bundles of a folder and of the folders in it.
func resultsIn(folder string) (paths []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != folder
		switch {
		case path == folder && !entry.IsDir():
			return fmt.Errorf("%s is not a folder", folder)
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case !entry.IsDir() && !hidden && slices.Contains([]string{".csv", ".zip"}, filepath.Ext(path)):
			if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() { // a pipe would never end
				paths = append(paths, path)
			}
		}
		return nil
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no results files (.csv) or bundles (.zip)", folder)
	}
	return paths, cli.Input("history", err)
}

// writeHistory draws the series to a file, as its ending says.
func writeHistory(path string, series []stats.Series, list []stats.Comparison) error {
	picture, err := plots.History(series)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var b bytes.Buffer
	if ending := filepath.Ext(path); ending == ".html" {
		err = report.WriteHistory(&b, stats.Versus(list), picture)
	} else {
		err = figure.Write(&b, picture, figure.Format(ending[1:]))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return files.Write(path, b.Bytes())
}

// placeHistory takes the arguments for a folder.
func (o *options) placeHistory(args []string) error {
	if len(args) > 0 {
		return cli.Usagef("--history takes a folder and no other files, as %s", args[0])
	}
	for _, path := range o.out {
		if !slices.Contains([]string{".png", ".svg", ".html"}, filepath.Ext(path)) {
			return cli.Usagef("--out %s: want a file that ends in .png, .svg or .html", path)
		}
	}
	return nil
}
