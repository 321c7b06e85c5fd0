// Workshop checks the exercises of the lessons in workshop/, gives hints, shows
// solutions, and keeps what a room of people predict and measure.
//
// Usage:
//
//	go run ./cmd/workshop ready
//	go run ./cmd/workshop list
//	go run ./cmd/workshop check [NUMBER …]
//	go run ./cmd/workshop hint NUMBER [WHICH]
//	go run ./cmd/workshop solution NUMBER
//	go run ./cmd/workshop reset NUMBER …
//	go run ./cmd/workshop predict [LESSON [TEXT]]
//	go run ./cmd/workshop collect NAME
//	go run ./cmd/workshop class FOLDER
//	go run ./cmd/workshop slides | handout
//	go run ./cmd/workshop offline FILE
//
// An exercise is a Go file with a blank marked YOUR TURN. It is edited in place;
// check compiles it with the command and says what is right and what is not. No
// verdict depends on the machine: results are compared with float64 arithmetic,
// counters with targets.
//
//	$ workshop check 1
//	exercise 1: fuse an activation
//	  WRONG  result wrong on 24x40x56, float32: o[21, 52] is …, should be 0 within …. A negative element should have become 0.
//	edit workshop/exercises/ex1/activation.go; a hint: go run ./cmd/workshop hint 1
//
// check without a number looks at all exercises. Hints come one by one:
//
//	$ workshop hint 1 2
//	hint 2 of 2: A constant is a value too: tile.Number(0). Apply the maximum to product, before the cast.
//
// reset puts exercises back to how they come; what stood there is kept in
// out/exercises.
//
// # Before a run
//
// ready watches the machine for a second and says what will spoil a figure: other
// programs, a battery, a quota, a saving clock; and what is missing: Go, disk, the
// plugin of lesson 6.
//
// predict 2 "3.8 times" keeps a prediction in out/workshop/predictions.csv; predict 2 shows
// those of lesson 2, and predict all, beside what came out. Results are those in out/,
// or of --input. What came out is shown only where something was predicted, and a
// prediction that was written after the measurement is marked.
//
//	$ workshop predict 2 3.8 times
//	lesson 2: v2, panels in parallel
//	  predicted  3.8 times
//	  is         each panel of b comes in twice
//
// # For who teaches
//
// collect NAME makes out/NAME.zip, the one file that somebody hands in: the rows of
// out/*.csv (or --input) under that name as host, predictions, and the verdicts on
// exercises. class FOLDER reads all hand-ins of a folder, prints a line for each
// person, and draws the ladder of all machines into --out (out/class).
//
// slides and handout write the lessons as a deck for Marp (out/slides.md) and as what
// is given out on paper (out/handout.md); scripts/slides makes HTML and PDF of them.
// offline FILE packs repository, modules and --plugin (repeatable) into one archive,
// from which everything is built without a network.
//
// # Exit status
//
// 0 if every exercise that was looked at is right and a machine is ready, 1 if one is
// not, 2 if there is no such exercise, hint or command, or a hand-in is none, 130 after
// Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/known"
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

// A verb is one command.
type verb struct {
	name, args, help string
	missing          string   // what is said where it needs an argument and has none
	most             int      // arguments
	flags            []string // that it takes
	run              func(ctx context.Context, o *options) error
}

// options is what the command line asks for.
type options struct {
	args    []string
	input   []string
	out     string
	plugins []string
	stdout  io.Writer
	stderr  io.Writer
	look    checker
}

var verbs []verb

func init() { // a variable would depend on itself: misuse lists verbs
	many := len(workshop.All)
	which := fmt.Sprintf("which exercise? 0 to %d", many-1)
	verbs = []verb{
		{"ready", "", "what would spoil a figure here", "", 0, nil, ready},
		{"list", "", "the exercises", "", 0, nil, list},
		{"check", "[NUMBER …]", "is it right?", "", many, nil, check},
		{"hint", "NUMBER [WHICH]", "a word of help", "of " + which, 2, nil, hint},
		{"solution", "NUMBER", "a file that is right", "of " + which, 1, nil, solution},
		{"reset", "NUMBER …", "an exercise as it came; yours is kept", which, many, nil, reset},
		{"predict", "[LESSON [TEXT]]", "keep a prediction; all beside what came out", "", 100, []string{"input"}, predict},
		{"collect", "NAME", "the file to hand in", `under which name? As in: go run ./cmd/workshop collect "Ada"`, 100, []string{"input", "out"}, collect},
		{"class", "FOLDER", "what all handed in, and their ladder", "in which folder are the hand-ins? As in: go run ./cmd/workshop class hand-ins/", 1000, []string{"out"}, class},
		{"slides", "", "the lessons for Marp", "", 0, []string{"out"}, slides},
		{"handout", "", "the lessons on paper", "", 0, []string{"out"}, handout},
		{"offline", "FILE", "an archive that needs no network", "into which file? As in: go run ./cmd/workshop offline out/matladder.tar.gz --plugin tpu", 1, []string{"plugin"}, offline},
	}
}

func verbNames() string {
	names := known.Names(verbs, func(v verb) string { return v.name })
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func usage(f *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "  go run ./cmd/workshop %-24s %s\n", strings.TrimSpace(v.name+" "+v.args), v.help)
	}
	return b.String() + "\n" + f.FlagUsages() + "\nThe lessons are workshop/lesson0.md to lesson10.md. The manual: go doc ./cmd/workshop\n"
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, look checker) int {
	f := cli.NewFlags("workshop")
	o := &options{stdout: stdout, stderr: stderr, look: look}
	f.StringArrayVar(&o.input, "input", nil, "results `FILE` or glob for predict and collect; may be repeated (default out/*.csv)")
	f.StringVar(&o.out, "out", "", "write to `FILE`; of class, into that folder")
	f.StringArrayVar(&o.plugins, "plugin", nil, "pack the `PLUGIN` that is installed here, for offline; may be repeated")
	err := cli.Parse(f, args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage(f))
	case err == nil:
		err = command(ctx, f, o)
	}
	return cli.End("workshop", err, "interrupted", stderr)
}

func command(ctx context.Context, f *pflag.FlagSet, o *options) error {
	if f.NArg() == 0 {
		return cli.Misuse(f, "want a command: %s", verbNames())
	}
	name := f.Arg(0)
	o.args = f.Args()[1:]
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return cli.Usagef("unknown command %q: known are %s", name, verbNames())
	}
	v := verbs[i]
	if len(o.args) > v.most {
		return cli.Usagef("%s: %q is one argument too many", name, o.args[v.most])
	}
	var strange string
	f.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(v.flags, flag.Name) {
			strange = flag.Name
		}
	})
	if strange != "" {
		return cli.Usagef("%s takes no --%s", name, strange)
	}
	if len(o.args) == 0 && v.missing != "" {
		return cli.Usagef("%s: %s", name, v.missing)
	}
	return v.run(ctx, o)
}

// exercise is the one that the first argument names.
func (o *options) exercise(verb string) (workshop.Exercise, error) {
	e, err := workshop.Find(o.args[0])
	if err != nil {
		return e, cli.Usagef("%s: %w", verb, err)
	}
	return e, nil
}

func solution(_ context.Context, o *options) error {
	e, err := o.exercise("solution")
	if err != nil {
		return err
	}
	text, err := e.Solution()
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.stdout, text)
	return err
}

func list(_ context.Context, o *options) error {
	for _, e := range workshop.All {
		fmt.Fprintf(o.stdout, "%2d  %-54s  %s\n", e.Number, e.Title, e.File())
	}
	return nil
}

// check looks at the exercises named, or at all.
func check(ctx context.Context, o *options) error {
	chosen := workshop.All
	if len(o.args) > 0 {
		var err error
		if chosen, err = o.exercises("check"); err != nil {
			return err
		}
	}
	var wrong error
	for _, e := range chosen {
		r, err := o.look(e, ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.stdout, "exercise %d: %s\n", e.Number, e.Title)
		if err := r.Write(o.stdout); err != nil {
			return err
		}
		if r.OK() {
			fmt.Fprintln(o.stdout, "right. "+e.Moral)
			continue
		}
		wrong = cli.ErrTold
		fmt.Fprintf(o.stdout, "edit %s; a hint: go run ./cmd/workshop hint %d\n", e.File(), e.Number)
	}
	return wrong
}

func hint(_ context.Context, o *options) error {
	e, err := o.exercise("hint")
	if err != nil {
		return err
	}
	n := 1
	if len(o.args) > 1 {
		if n, err = strconv.Atoi(o.args[1]); err != nil || n < 1 || n > len(e.Hints) {
			return cli.Usagef("hint: exercise %d has no hint %q, only 1 to %d", e.Number, o.args[1], len(e.Hints))
		}
	}
	fmt.Fprintf(o.stdout, "hint %d of %d: %s\n", n, len(e.Hints), e.Hints[n-1])
	if n < len(e.Hints) {
		fmt.Fprintf(o.stdout, "the next one: go run ./cmd/workshop hint %d %d\n", e.Number, n+1)
	}
	return nil
}

// exercises are those that the arguments name.
func (o *options) exercises(verb string) ([]workshop.Exercise, error) {
	var chosen []workshop.Exercise
	for _, name := range o.args {
		e, err := workshop.Find(name)
		if err != nil {
			return nil, cli.Usagef("%s: %w", verb, err)
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}
