// Package peers is command peers: it measures kernels against the libraries that other people use.
package peers

import (
	"context"
	"io"

	"matladder/internal/cli"
)

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("peers", peers(ctx, args, stdout, stderr), "", stdout, stderr)
}

// peers does what the flags say.
func peers(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	switch {
	case len(f.report) > 0:
		return report(ctx, f.report, f.page, f.note, stdout)
	case f.list:
		return list(ctx, f, stdout)
	}
	return measure(ctx, f, stdout, stderr)
}
