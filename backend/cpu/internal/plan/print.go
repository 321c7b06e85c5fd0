package plan

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"matladder/backend"
)

// sections say in words what each pass decided, under its name, or that there was nothing to
// decide.
var sections = []struct {
	pass    string
	tell    func(*Plan, say)
	nothing string
}{
	{"verify", (*Plan).tellGrid, ""},
	{"matrices", (*Plan).tellRefs, ""},
	{"match", (*Plan).tellBody, ""},
	{"fuse", (*Plan).tellFused, "nothing to fuse"},
	{"layout", (*Plan).tellLayout, "no product"},
	{"skinny", (*Plan).tellSkinny, "no product"},
	{"rows", (*Plan).tellRows, "no product"},
	{"writes", (*Plan).tellWrites, "no output is written by non-temporal stores"},
	{"epilogue", (*Plan).tellValues, ""},
	{"placement", (*Plan).tellKept, "nothing is packed"},
	{"schedule", (*Plan).tellSchedule, ""},
	{"buffers", (*Plan).tellBuffers, "none"},
}

// A say adds a line to a section.
type say func(format string, args ...any)

// Text is lines, those of a part behind its name.
type Text struct{ strings.Builder }

// Part adds lines, the first behind name. Tabs set what lies between them in columns.
func (t *Text) Part(name string, lines ...string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%-9s %s", name, line), " \n"))
		name = ""
	}
}

// Print adds what each pass decided, and the loops that come of it.
func (p *Plan) Print(t *Text) {
	for _, s := range sections {
		var lines []string
		s.tell(p, func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
		if lines == nil && s.nothing != "" {
			lines = []string{s.nothing}
		}
		t.Part(s.pass, lines...)
	}
	t.loops(p)
}

// KiB prints a number of bytes: "96 KiB".
func KiB(bytes int64) string { return backend.FormatBytes(bytes) }

func by(shape []int, with string) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, with)
}
