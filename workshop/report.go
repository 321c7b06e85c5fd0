package workshop

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Report is the verdict on one exercise.
type Report struct {
	Lines []Line
}

// Line is one thing that was looked at.
type Line struct {
	OK   bool
	Text string
}

// OK reports whether something was looked at and all of it was right.
func (r *Report) OK() bool {
	return len(r.Lines) > 0 && !slices.ContainsFunc(r.Lines, func(l Line) bool { return !l.OK })
}

// Write prints a line for each, those that are wrong marked.
func (r *Report) Write(w io.Writer) error {
	for _, l := range r.Lines {
		mark := "ok    "
		if !l.OK {
			mark = "WRONG "
		}
		if _, err := fmt.Fprintf(w, "  %s %s\n", mark, strings.ReplaceAll(l.Text, "\n", "\n         ")); err != nil {
			return err
		}
	}
	return nil
}

// expect adds a line: yes if ok, no if not. It returns ok.
func (r *Report) expect(ok bool, yes, no string) bool {
	text := yes
	if !ok {
		text = no
	}
	r.Lines = append(r.Lines, Line{ok, text})
	return ok
}

// wrong adds a line that is wrong.
func (r *Report) wrong(format string, args ...any) {
	r.expect(false, "", fmt.Sprintf(format, args...))
}

// atMost holds a counter against its target. more says what it means to be above
// it; print is for people.
func (r *Report) atMost(what string, got, target int64, print func(int64) string, more string) {
	text := fmt.Sprintf("%s: %s, target at most %s", what, print(got), print(target))
	r.expect(got <= target, text, text+". "+more)
}

// whole prints a count.
func whole(n int64) string { return fmt.Sprint(n) }
