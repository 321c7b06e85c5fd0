package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/plots"
	"matladder/stats"
)

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
		for _, s := range o.newest(rows, p) {
			if s.FamilyName() == p.Family && s.DtypeA == p.Dtype && (p.Kernel == "" || s.Kernel == p.Kernel) {
				list = append(list, s)
			}
		}
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

// ladderMarks is the name of the marks around the table in a README.
const ladderMarks = "ladder"

// rewriteReadme replaces what stands between the marks of the file by the
// ladder, and leaves every other byte as it is.
func (o *options) rewriteReadme(stdout io.Writer, rows []stats.Summary) error {
	list, err := o.summaries(rows)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := stats.WriteTable(&table, "md", stats.Best(list), o.columns...); err != nil {
		return err
	}
	text, err := cli.Fill("readme", o.readme, ladderMarks, table.Bytes())
	if err != nil {
		return err
	}
	if err := files.Replace(o.readme, text); err != nil {
		return err
	}
	fmt.Fprintln(stdout, o.readme)
	return nil
}
