package browser

import (
	"context"
	"fmt"
	"strings"

	"matladder/model/traverse"
	"matladder/workshop"
)

// shownSteps is how many steps of a traversal the player shows.
const shownSteps = 600

// compilers has the words of compiled Go for those in which the interpreter panics.
var compilers = strings.NewReplacer(
	"reflect: call of reflect.Value.Field on zero Value", "runtime error: invalid memory address or nil pointer dereference",
	"reflect: slice index out of range", "runtime error: index out of range",
	"reflect: array index out of range", "runtime error: index out of range")

// Verdict is what Check says: mistakes, or else the report.
type Verdict struct {
	Mistakes  []Mistake
	Lines     []workshop.Line
	OK        bool
	Hint      int                 // the one for what is wrong first
	Moral     string              // if OK
	Recording *traverse.Recording // of a program that was looked at, if any
}

// Check looks at source as the file of an exercise, as cmd/workshop does.
func Check(ctx context.Context, e workshop.Exercise, source string) (Verdict, error) {
	declared, mistakes := read(fmt.Sprintf("ex%d/%s", e.Number, e.Name), source)
	if mistakes != nil {
		return Verdict{Mistakes: mistakes}, nil
	}
	r, err := e.CheckWith(ctx, declared, func() string { return fmt.Sprintf(" at workshop/exercises/%s", at) })
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Lines: r.Lines, OK: r.OK(), Hint: e.HintFor(r)}
	for i := range v.Lines {
		v.Lines[i].Text = compilers.Replace(v.Lines[i].Text)
	}
	if v.OK {
		v.Moral = e.Moral
	}
	if r.Programs != nil {
		v.Recording, err = traverse.Record(ctx, e.Title, r.Programs, nil, shownSteps)
	}
	return v, err
}
