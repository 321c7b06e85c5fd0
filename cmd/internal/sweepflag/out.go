package sweepflag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"matladder/harness"
	"matladder/internal/cli"
	"matladder/results"
)

// Mistake turns an error in what a sweep says (its file or its flags) into a usage error, for
// which the exit status is 2; other errors stay as they are.
func Mistake(err error) error {
	if errors.As(err, new(*harness.ConfigError)) {
		return &cli.UsageError{Err: err}
	}
	return err
}

// Out returns what ended a sweep in the words of flags --out and --resume, where these
// were the mistake: a file that is there already, or one to go on with that is none of
// results.
func Out(err error, out string, resume bool) error {
	switch {
	case errors.Is(err, os.ErrExist):
		return cli.Usagef("%s exists: go on with it (--resume) or choose another name", out)
	case resume && errors.As(err, new(*results.SyntaxError)):
		return cli.Input("out", err)
	}
	return err
}

// Interrupted tells, if that is what ended a sweep, the command that goes on with the
// rows in its file.
func Interrupted(stderr io.Writer, err error, again string, rows int) {
	switch {
	case !errors.Is(err, context.Canceled):
	case rows == 0:
		fmt.Fprintln(stderr, "interrupted before the first round was over: nothing to keep")
	default:
		fmt.Fprintf(stderr, "interrupted; to go on: %s\n", again)
	}
}
