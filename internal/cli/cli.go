// Package cli holds what the commands share: their exit statuses, the error that means a mistake
// in the command line, flag sets that leave messages to the command, and a main that Ctrl-C
// interrupts. What a command does and says is its own.
//
// # Which status
//
// A command that was called wrongly ends with Usage: nothing helps but to change the command
// line, or a file that it names. That is a flag or an argument that makes no sense, and a file
// named to be read that is missing, cannot be read, or is not what it should be (a sweep, a
// table, results, a page with its marks). Everything else that goes wrong is Failed: a file that
// cannot be written, a file that no flag names, data that do not answer the question, a point
// that is wrong. Both are told in one line on standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"
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

// Pairs reads what was given of a flag that may be repeated, as KEY=VALUE each.
func Pairs(flag string, given []string) (map[string]string, error) {
	pairs := map[string]string{}
	for _, p := range given {
		key, value, ok := strings.Cut(p, "=")
		if _, twice := pairs[key]; twice || !ok || key == "" || value == "" {
			return nil, Usagef("%s %q: want KEY=VALUE, each key once", flag, p)
		}
		pairs[key] = value
	}
	return pairs, nil
}

// Status returns the exit status of a command that ended with err: OK also for a call for help.
func Status(err error) int {
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return OK
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.As(err, new(*UsageError)):
		return Usage
	}
	return Failed
}

// ErrTold ends a command that has said itself what went wrong.
var ErrTold = errors.New("something went wrong, as told above")

// End says on stderr, in one line, why a command ended, and returns its exit status. An
// interruption is told in the words given, not at all if they are empty, and ErrTold is not
// told. Help goes to stdout.
func End(command string, err error, interrupted string, stdout, stderr io.Writer) int {
	var line any = err
	if asked, ok := errors.AsType[*helpError](err); ok {
		io.WriteString(stdout, asked.text)
	}
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp) || errors.Is(err, ErrTold):
		line = ""
	case errors.Is(err, context.Canceled):
		line = interrupted
	}
	if line != "" {
		fmt.Fprintf(stderr, "%s: %v\n", command, line)
	}
	return Status(err)
}

// Input marks an error of reading a file that the command line names. The flag stands before it;
// flag is empty where an argument names the file. No error stays none, and an interruption one.
func Input(flag string, err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case flag == "":
		return &UsageError{err}
	}
	return Usagef("--%s: %w", flag, err)
}

// Main runs a command on the arguments and streams of the process and exits with
// its status. A reader of its output that goes away (| head) ends nothing. Ctrl-C, a termination request and the end of the terminal cancel the
// context; a second Ctrl-C or request ends the process at once, and so does longestEnd
// after the first, whatever the command is doing. A command all of whose
// output could not be written has failed, also where it did not look.
func Main(command string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	brokenPipes()
	ctx := interruptible()
	ended(ctx, longestEnd, func() {
		fmt.Fprintf(os.Stderr, "%s: had not stopped %s after it was told to: ended\n", command, longestEnd)
		os.Exit(Interrupted)
	})
	os.Exit(observed(ctx, command, run, os.Args[1:], os.Stdout, os.Stderr))
}

// longestEnd is how long a command has for its end, from the signal on. Most take a
// moment: a process that was asked gets 3 s, and what is known so far is shown. What has been written is whole
// at any time (results/FORMAT.md, The journal).
const longestEnd = 30 * time.Second

// ended calls exit where ctx was cancelled and the process is still there a while later: in
// something that does not look at ctx.
func ended(ctx context.Context, after time.Duration, exit func()) {
	context.AfterFunc(ctx, func() { time.AfterFunc(after, exit) })
}

// interruptible returns a context that signals cancel. A hangup that is ignored, as under nohup,
// stays ignored; a second one does nothing, as both the terminal and the shell send it.
func interruptible() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP)
		stop()
	})
	return ctx
}

// brokenPipes makes a write to a pipe that nobody reads an error of that write. By
// default it ends a Go program when the pipe is its standard output or error, in the
// middle of a sweep too. Children begin with the default again.
func brokenPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// observed runs a command and adds to its status whether its output was written, as
// far as there was somebody to read it.
func observed(ctx context.Context, command string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) int,
	args []string, stdout, stderr io.Writer,
) int {
	out := &output{w: stdout}
	status := run(ctx, args, out, stderr)
	if status == OK && out.err != nil && !errors.Is(out.err, syscall.EPIPE) {
		fmt.Fprintf(stderr, "%s: %v\n", command, out.err)
		return Failed
	}
	return status
}

// output remembers the first error of writing, and hides that nobody reads on: a
// command goes on to its end, whoever has seen enough.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}

// Command is how to call a command of this module as this process was: by the path of
// its program, with its name where that has all commands, or by go run if the program was
// built by that or a test and will be gone.
func Command(name string, args ...string) string {
	program := os.Args[0]
	if regexp.MustCompile(`[/\\\\]go-build\d*[/\\\\]`).MatchString(program) || strings.HasSuffix(strings.TrimSuffix(filepath.Base(program), ".exe"), ".test") {
		program = "go run ./cmd/" + name
	} else {
		program = quote(program)
		if len(os.Args) > 1 && os.Args[1] == name {
			program += " " + name
		}
	}
	for _, a := range args {
		program += " " + quote(a)
	}
	return program
}

// plainWord is what every shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,=+@%-]+$`)

// quote writes a word for a shell.
func quote(word string) string {
	if plainWord.MatchString(word) || filepath.Separator == '\\' && !strings.ContainsAny(word, " \"") {
		return word
	}
	if filepath.Separator == '\\' {
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Probing returns a function, for a CPU backend's Options, that says on w that this machine is
// being measured. file is where the figures are kept, "" for nowhere; where it cannot be
// written they are not.
func Probing(w io.Writer) func(file string, unwritable error) {
	return func(file string, unwritable error) {
		switch {
		case file == "":
			fmt.Fprintln(w, "measuring this machine, one or two seconds; there is no cache folder to keep the figures in")
		case unwritable != nil:
			fmt.Fprintf(w, "measuring this machine, one or two seconds; the figures cannot be kept: %v\n", unwritable)
		default:
			fmt.Fprintf(w, "measuring this machine once, one or two seconds; the figures are kept in %s\n", file)
		}
	}
}

// Line returns as much of a line as the terminal w shows in one row beside so many
// columns that are taken: a longer one could not be written over. It is all of the line
// where w is no terminal or does not tell its width.
func Line(w io.Writer, line string, taken int) string {
	f, ok := w.(*os.File)
	if !ok {
		return line
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return line
	}
	return cut(line, columns-taken)
}

// Terminal reports whether w is a terminal, on which a line can be written over.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// cut shortens text to so many characters, the last of them then an ellipsis.
func cut(text string, most int) string {
	runes := []rune(text)
	switch {
	case len(runes) <= most:
		return text
	case most < 1:
		return ""
	}
	return string(runes[:most-1]) + "…"
}
