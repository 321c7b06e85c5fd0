// Package tune is command tune: it finds the fastest block shape of a kernel on a problem.
package tune

import (
	"context"
	"io"

	"matladder/cmd/internal/sweepflag"
	"matladder/internal/cli"
)

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	switch {
	case err != nil:
	case f.where.Asked():
		err = f.where.Help(stdout)
	case f.audit:
		err = f.runAudit(ctx, stdout, stderr)
	case f.list:
		err = f.show(ctx, stdout)
	case f.imports != "":
		err = f.compare(ctx, stdout)
	default:
		err = f.tune(ctx, stdout, stderr)
	}
	interrupted := "interrupted; the same command goes on"
	switch {
	case f.audit && f.audited:
		interrupted = "interrupted; " + f.csv + " has what was measured"
	case f.audit:
		interrupted = "interrupted before the first problem was audited: nothing to keep"
	}
	return cli.End("tune", sweepflag.Mistake(err), interrupted, stdout, stderr)
}
