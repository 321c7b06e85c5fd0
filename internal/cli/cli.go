// Package cli holds what the commands share: their exit statuses, the error that
// means a mistake in the command line, flag sets that leave messages to the
// command, and a main that Ctrl-C interrupts. What a command does and says is its
// own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

// The exit statuses of every command.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	Interrupted = 130
)

// UsageError is a mistake in how a command was called.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError with a message as of fmt.Errorf.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Status returns the exit status of a command that ended with err: OK also for a
// call for help.
func Status(err error) int {
	var usage *UsageError
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return OK
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.As(err, &usage):
		return Usage
	}
	return Failed
}

// NewFlags returns a set of flags for a command, in the order of their
// definition, that prints nothing by itself.
func NewFlags(command string) *pflag.FlagSet {
	f := pflag.NewFlagSet(command, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.SortFlags = false
	return f
}

// Main runs a command on the arguments and streams of the process and exits with
// its status. Ctrl-C and a termination request cancel the context; a second one
// ends the process at once.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Plural returns a count with its noun, which takes an s: 1 row, 2 rows.
func Plural[T int | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
