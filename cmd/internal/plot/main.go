// Package plot is command plot: it draws results, or writes them as a page or a table.
package plot

import (
	"context"
	"errors"
	"fmt"
	"io"

	"matladder/internal/cli"
)

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
