// Package bench is command bench: it measures a sweep and writes it as CSV.
package bench

import (
	"context"
	"io"

	"matladder/cmd/internal/sweepflag"
	"matladder/internal/cli"
)

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("bench", sweepflag.Mistake(bench(ctx, args, stdout, stderr)), "", stdout, stderr)
}
