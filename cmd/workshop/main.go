// Workshop checks the exercises of the lessons in workshop/, gives hints and
// shows solutions.
//
// Usage:
//
//	go run ./cmd/workshop list
//	go run ./cmd/workshop check [NUMBER …]
//	go run ./cmd/workshop hint NUMBER [WHICH]
//	go run ./cmd/workshop solution NUMBER
//
// An exercise is a Go file with a blank marked YOUR TURN. It is edited in place;
// check compiles it with the command and says what is right and what is not. No
// verdict depends on the machine: results are compared with float64 arithmetic,
// counters with targets.
//
//	$ workshop check 1
//	exercise 1: fuse an activation
//	  WRONG  result wrong on 24x40x56, float32: o[23, 27] is …, should be 0 within …. A negative element should have become 0.
//	edit workshop/exercises/ex1/activation.go; a hint: go run ./cmd/workshop hint 1
//
// check without a number looks at all exercises. Hints come one by one:
//
//	$ workshop hint 1 2
//	hint 2 of 2: A constant is a value too: tile.Number(0). Apply the maximum to product, before the cast.
//
// # Exit status
//
// 0 if every exercise that was looked at is right, 1 if one is not, 2 if there is
// no such exercise, hint or command, 130 after Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"matladder/internal/cli"
	"matladder/workshop"

	"github.com/spf13/pflag"
)

func main() {
	cli.Main("workshop", func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, stdout, stderr, workshop.Exercise.Check)
	})
}

// checker looks at what somebody wrote into an exercise.
type checker func(workshop.Exercise, context.Context) (*workshop.Report, error)

const usage = `Usage:
  go run ./cmd/workshop list                   the exercises
  go run ./cmd/workshop check [NUMBER …]       is it right?
  go run ./cmd/workshop hint NUMBER [WHICH]    a word of help
  go run ./cmd/workshop solution NUMBER        a file that is right

The lessons are workshop/lesson0.md to lesson7.md. The manual: go doc ./cmd/workshop
`

// errWrong says that an exercise is not right yet; the report has been printed.
var errWrong = errors.New("not right yet")

func run(ctx context.Context, args []string, stdout, stderr io.Writer, look checker) int {
	f := cli.NewFlags("workshop")
	err := cli.Parse(f, args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage)
	case err == nil:
		err = command(ctx, f, stdout, look)
	}
	status := cli.Status(err)
	switch status {
	case cli.OK:
	case cli.Usage:
		fmt.Fprintf(stderr, "workshop: %v\n", err)
	case cli.Interrupted:
		fmt.Fprintln(stderr, "workshop: interrupted")
	default:
		if !errors.Is(err, errWrong) {
			fmt.Fprintf(stderr, "workshop: %v\n", err)
		}
	}
	return status
}

func command(ctx context.Context, f *pflag.FlagSet, stdout io.Writer, look checker) error {
	args := f.Args()
	if len(args) == 0 {
		return cli.Misuse(f, "want a command: list, check, hint or solution")
	}
	name, args := args[0], args[1:]
	switch most, ok := map[string]int{"list": 0, "check": len(workshop.All), "hint": 2, "solution": 1}[name]; {
	case !ok:
		return cli.Usagef("unknown command %q: known are list, check, hint and solution", name)
	case len(args) > most:
		return cli.Usagef("%s: %q is one argument too many", name, args[most])
	}
	switch name {
	case "list":
		return list(stdout)
	case "check":
		return check(ctx, args, stdout, look)
	}
	if len(args) == 0 {
		return cli.Usagef("%s: of which exercise? 0 to %d", name, len(workshop.All)-1)
	}
	e, err := workshop.Find(args[0])
	if err != nil {
		return cli.Usagef("%s: %w", name, err)
	}
	if name == "hint" {
		return hint(e, args[1:], stdout)
	}
	text, err := e.Solution()
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, text)
	return err
}

func list(w io.Writer) error {
	for _, e := range workshop.All {
		if _, err := fmt.Fprintf(w, "%d  %-54s  %s\n", e.Number, e.Title, e.File()); err != nil {
			return err
		}
	}
	return nil
}

// check looks at the exercises named, or at all.
func check(ctx context.Context, names []string, w io.Writer, look checker) error {
	chosen := workshop.All
	if len(names) > 0 {
		chosen = nil
	}
	for _, name := range names {
		e, err := workshop.Find(name)
		if err != nil {
			return cli.Usagef("check: %w", err)
		}
		chosen = append(chosen, e)
	}
	var wrong error
	for _, e := range chosen {
		r, err := look(e, ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "exercise %d: %s\n", e.Number, e.Title)
		if err := r.Write(w); err != nil {
			return err
		}
		if r.OK() {
			fmt.Fprintln(w, "right. "+e.Moral)
			continue
		}
		wrong = errWrong
		fmt.Fprintf(w, "edit %s; a hint: go run ./cmd/workshop hint %d\n", e.File(), e.Number)
	}
	return wrong
}

func hint(e workshop.Exercise, which []string, w io.Writer) error {
	n := 1
	if len(which) > 0 {
		var err error
		if n, err = strconv.Atoi(which[0]); err != nil || n < 1 || n > len(e.Hints) {
			return cli.Usagef("hint: exercise %d has no hint %q, only 1 to %d", e.Number, which[0], len(e.Hints))
		}
	}
	_, err := fmt.Fprintf(w, "hint %d of %d: %s\n", n, len(e.Hints), e.Hints[n-1])
	if err == nil && n < len(e.Hints) {
		_, err = fmt.Fprintf(w, "the next one: go run ./cmd/workshop hint %d %d\n", e.Number, n+1)
	}
	return err
}
