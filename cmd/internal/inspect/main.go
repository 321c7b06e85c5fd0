// Package inspect is command inspect: it shows what a kernel does before it runs.
package inspect

import (
	"context"
	"io"

	"matladder/internal/cli"
)

// Run is the program: what was asked for goes to stdout, mistakes to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	defer o.close()
	switch {
	case err == nil && o.where.Asked():
		return cli.Status(o.where.Help(stdout))
	case err != nil:
		return cli.End("inspect", cli.Input("", err), "interrupted", stdout, stderr)
	}
	return cli.End("inspect", o.show(ctx, stdout), "interrupted", stdout, stderr)
}
