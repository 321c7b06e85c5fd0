package workshop

import (
	"context"
	"embed"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"matladder/problem"
	"matladder/tile"
)

// Exercise is one blank to fill in.
type Exercise struct {
	Number  int    // that of its lesson
	Title   string // what it is about
	Name    string // that of its Go file
	Hints   []Hint
	Moral   string   // what the learner may conclude, once it is right
	Answers []string // to what its lesson has people predict, where they need no measurement

	declares
	with func(parts) checker
}

// Hint is a word of help.
type Hint struct {
	Text string
	Of   string // the part that it is about, as a report names it; "" if about all
}

// HintFor is the index of the first hint for what a report first finds wrong, or else of any.
func (e Exercise) HintFor(r *Report) int {
	at := slices.IndexFunc(r.Lines, func(l Line) bool { return !l.OK })
	return max(0, slices.IndexFunc(e.Hints, func(h Hint) bool { return at >= 0 && h.Of != "" && strings.Contains(r.Lines[at].Text, h.Of) }))
}

// declares are the functions and constants of an exercise, by name: the learner's, the blank, the
// solution.
type declares map[string][3]any

func (d declares) of(file int) func(name string) any {
	return func(name string) any { return d[name][file] }
}

// parts are what one file of an exercise declares.
type parts map[string]any

// builder writes a kernel for a matrix product.
type builder = func(problem.Matmul, tile.Blocks) ([]*tile.Program, error)

// All is every exercise, by number.
var All = described(alikeAt512, fuseActivation, orderLoops, zeroAccumulator, countBytes, roundOnce, scaleChannels, largestBlocks, shrinkSums, shareKeys, sharePod, scaleGroups, cutForCore, ownKernel)

//go:embed solutions/*/*.go blanks/*/*.go lesson*.md
var texts embed.FS

//go:embed exercises.txt
var words string

// described has of each exercise what exercises.txt says: a paragraph each, in their order, of
// number, file and title, hints (-, of a part in brackets), moral (=) and answers (~).
func described(list ...Exercise) []Exercise {
	for i, paragraph := range strings.Split(strings.ReplaceAll(words, "\r\n", "\n"), "\n\n") {
		e := &list[i]
		e.Number = i
		for n, line := range strings.Split(strings.TrimSpace(paragraph), "\n") {
			switch mark, text, _ := strings.Cut(line, " "); {
			case n == 0:
				e.Name, e.Title, _ = strings.Cut(text, ": ")
			case mark == "-":
				h := Hint{Text: text}
				if of, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "] "); ok && text[0] == '[' {
					h = Hint{rest, of}
				}
				e.Hints = append(e.Hints, h)
			case mark == "=":
				e.Moral = text
			default:
				e.Answers = append(e.Answers, text)
			}
		}
	}
	return list
}

// Find returns the exercise of a number as people write it: 3, ex3.
func Find(s string) (Exercise, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "ex"))
	if err != nil || n < 0 || n >= len(All) {
		return Exercise{}, fmt.Errorf("unknown exercise %q (known: 0 to %d)", s, len(All)-1)
	}
	return All[n], nil
}

// File is the file to edit, in the repository.
func (e Exercise) File() string { return fmt.Sprintf("workshop/exercises/ex%d/%s", e.Number, e.Name) }

// Solution is the source of a file that passes.
func (e Exercise) Solution() (string, error) { return read("solutions/ex%d/%s", e.Number, e.Name) }

// Blank is the source of the file as it comes.
func (e Exercise) Blank() (string, error) { return read("blanks/ex%d/%s", e.Number, e.Name) }

// Page is the lesson of the exercise, in Markdown.
func (e Exercise) Page() (string, error) { return read("lesson%d.md", e.Number) }

func read(name string, args ...any) (string, error) {
	text, err := texts.ReadFile(fmt.Sprintf(name, args...))
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// Check looks at what the learner wrote, CheckBlank at the exercise as it comes, CheckSolution at
// the solution. The error is ctx's.
func (e Exercise) Check(ctx context.Context) (*Report, error) { return e.CheckWith(ctx, e.of(0), nil) }

func (e Exercise) CheckBlank(ctx context.Context) (*Report, error) {
	return e.CheckWith(ctx, e.of(1), nil)
}

func (e Exercise) CheckSolution(ctx context.Context) (*Report, error) {
	return e.CheckWith(ctx, e.of(2), nil)
}

// CheckWith looks in the same way at any file: declared returns what it declares under a name, or
// nil. line is nil, or for a file that is interpreted says where a panic is, as in " at FILE:LINE".
func (e Exercise) CheckWith(ctx context.Context, declared func(name string) any, line func() string) (*Report, error) {
	r, theirs := &Report{}, parts{}
	for _, name := range slices.Sorted(maps.Keys(e.declares)) {
		got, want := declared(name), e.declares[name][2]
		if theirs[name] = got; reflect.TypeOf(got) != reflect.TypeOf(want) {
			r.wrong("%s should be a %T", name, want)
		}
	}
	if len(r.Lines) > 0 {
		return r, nil
	}
	if line == nil {
		line = learnersLine
	}
	return look(ctx, e.with(theirs), line)
}

// A checker adds to a report what it sees. An error of it is one more line.
type checker func(context.Context, *Report) error

// exerciseOf is an exercise whose files declare the fields of an E, which is what checks them.
func exerciseOf[E interface {
	check(context.Context, *Report) error
}](d declares) Exercise {
	return Exercise{declares: d, with: func(theirs parts) checker {
		var e E
		for f, v := range reflect.ValueOf(&e).Elem().Fields() {
			v.Set(reflect.ValueOf(theirs[f.Name]))
		}
		return e.check
	}}
}

// look runs a check; a panic in what it looks at is a line of the report, which line says.
func look(ctx context.Context, check checker, line func() string) (r *Report, err error) {
	r = &Report{}
	defer func() {
		if p := recover(); p != nil {
			r.wrong("your code panics%s: %v", line(), p)
		}
	}()
	if err := check(ctx, r); err != nil {
		r.wrong("%v", err)
	}
	return r, ctx.Err()
}

var learnersFile = regexp.MustCompile(`workshop/(exercises|blanks|solutions)/[^/]+/[^/]+$`)

// learnersLine says which line of an exercise the panic that is being recovered came from.
func learnersLine() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if m := learnersFile.FindString(filepath.ToSlash(f.File)); m != "" {
			return fmt.Sprintf(" at %s:%d", m, f.Line)
		}
		if !more {
			return ""
		}
	}
}

// Report is the verdict on one exercise.
type Report struct {
	Lines    []Line
	Programs []*tile.Program // the first that were looked at, if any
}

// Line is one thing that was looked at.
type Line struct {
	OK          bool
	Text        string
	Got, Target int64 // of a counter
}

// OK reports whether something was looked at and all of it was right.
func (r *Report) OK() bool {
	return len(r.Lines) > 0 && !slices.ContainsFunc(r.Lines, func(l Line) bool { return !l.OK })
}

// Write prints a line for each, those that are wrong marked.
func (r *Report) Write(w io.Writer) error {
	for _, l := range r.Lines {
		mark := map[bool]string{true: "ok    ", false: "WRONG "}[l.OK]
		if _, err := fmt.Fprintf(w, "  %s %s\n", mark, strings.ReplaceAll(l.Text, "\n", "\n         ")); err != nil {
			return err
		}
	}
	return nil
}

// expect adds a line: yes if ok, no if not. It returns ok.
func (r *Report) expect(ok bool, yes, no string) bool {
	r.Lines = append(r.Lines, Line{OK: ok, Text: map[bool]string{true: yes, false: no}[ok]})
	return ok
}

// wrong adds a line that is wrong.
func (r *Report) wrong(format string, args ...any) { r.expect(false, "", fmt.Sprintf(format, args...)) }

// atMost holds a counter against its target. more says what it means to be above
// it; print is for people.
func (r *Report) atMost(what string, got, target int64, print func(int64) string, more string) {
	text := fmt.Sprintf("%s: %s, target at most %s", what, print(got), print(target))
	r.expect(got <= target, text, text+". "+more)
	last := &r.Lines[len(r.Lines)-1]
	last.Got, last.Target = got, target
}

// whole prints a count.
func whole(n int64) string { return fmt.Sprint(n) }
