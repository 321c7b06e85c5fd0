// Package workshop is command workshop: it checks exercises of the lessons.
package workshop

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/workshop"

	"github.com/spf13/pflag"
)

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
	args   []string
	input  []string
	out    string
	addr   string
	stdout io.Writer
	stderr io.Writer
	look   checker
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
		{"predict", "[LESSON [TEXT]]", "keep a prediction; all next to what came out", "", 100, []string{"input"}, predict},
		{"collect", "NAME", "the file to hand in", `under which name? As in: go run ./cmd/workshop collect "Ada"`, 100, []string{"input", "out"}, collect},
		{"class", "FOLDER", "what all handed in, and their ladder", "in which folder are the hand-ins? As in: go run ./cmd/workshop class hand-ins/", 1000, []string{"out"}, class},
		{"serve", "", "the lessons as pages that check exercises", "", 0, []string{"addr"}, serve},
	}
}

func verbNames() string {
	names := each.Of(verbs, func(v verb) string { return v.name })
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// manual says what the command is for, verb by verb.
func manual() string {
	var b strings.Builder
	b.WriteString("Workshop checks the exercises of the lessons, gives hints, and keeps what a class measures.\n\nSYNOPSIS\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "  go run ./cmd/workshop %-24s %s\n", strings.TrimSpace(v.name+" "+v.args), v.help)
	}
	return b.String() + `  matladder workshop ...

EXAMPLES
  Is this machine ready for the lessons in workshop/, is exercise 1 right, and help with it:

    $ go run ./cmd/workshop ready
    $ go run ./cmd/workshop check 1
    $ go run ./cmd/workshop hint 1
`
}

// Run is the program: what was asked for goes to stdout, mistakes to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return run(ctx, args, stdout, stderr, workshop.Exercise.Check)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, look checker) int {
	f := cli.NewFlags("workshop")
	o := &options{stdout: stdout, stderr: stderr, look: look}
	f.StringArrayVar(&o.input, "input", nil, "results `FILE` or glob for predict and collect; may be repeated (default out/*.csv)")
	f.StringVar(&o.out, "out", "", "write to `FILE`; of class, into that folder")
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "serve pages at `ADDRESS`; :8080 is for all of a room")
	err := cli.Parse(f, args, manual())
	if err == nil {
		err = command(ctx, f, o)
	}
	return cli.End("workshop", err, "interrupted", stdout, stderr)
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
	if err := cli.Takes(f, name, v.flags); err != nil {
		return err
	}
	if len(o.args) == 0 && v.missing != "" {
		return cli.Usagef("%s: %s", name, v.missing)
	}
	return v.run(ctx, o)
}

func solution(_ context.Context, o *options) error {
	chosen, err := o.exercises("solution")
	if err != nil {
		return err
	}
	text, err := chosen[0].Solution()
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
	chosen, err := o.exercises("check")
	if err != nil {
		return err
	}
	if len(o.args) == 0 {
		chosen = workshop.All
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

func hint(ctx context.Context, o *options) error {
	chosen, err := o.exercises("hint")
	if err != nil {
		return err
	}
	e, n := chosen[0], 0
	if len(o.args) == 1 {
		r, err := e.Check(ctx)
		if err != nil {
			return err
		}
		n = e.HintFor(r) + 1
	} else if n, err = strconv.Atoi(o.args[1]); err != nil || n < 1 || n > len(e.Hints) {
		return cli.Usagef("hint: exercise %d has no hint %q, only 1 to %d", e.Number, o.args[1], len(e.Hints))
	}
	fmt.Fprintf(o.stdout, "hint %d of %d: %s\n", n, len(e.Hints), e.Hints[n-1].Text)
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
