package plan

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"matladder/backend"
)

// sections say in words what each pass decided, under its name.
var sections = []struct {
	pass string
	tell func(*Plan) []string
}{
	{"verify", (*Plan).tellGrid},
	{"matrices", (*Plan).tellRefs},
	{"match", (*Plan).tellBody},
	{"fuse", (*Plan).tellFused},
	{"layout", (*Plan).tellLayout},
	{"skinny", (*Plan).tellThin},
	{"rows", (*Plan).tellRows},
	{"writes", (*Plan).tellWrites},
	{"epilogue", (*Plan).tellValues},
	{"placement", (*Plan).tellKept},
	{"schedule", (*Plan).tellSchedule},
	{"buffers", (*Plan).tellBuffers},
}

// Text is lines, those of a part behind its name.
type Text struct{ strings.Builder }

// Part adds lines, the first behind name.
func (t *Text) Part(name string, lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%-9s %s", name, line), " "))
		name = ""
	}
}

// Print adds what each pass decided, and the loops that come of it.
func (p *Plan) Print(t *Text) {
	for _, s := range sections {
		t.Part(s.pass, s.tell(p)...)
	}
	t.loops(p)
}

// KiB prints a number of bytes: "96 KiB".
func KiB(bytes int64) string { return backend.FormatBytes(bytes) }

// Plural prints a number of things: "1 row", "2 rows".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// aligned sets cells, joined by tabs, in columns.
func aligned(lines []string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.Flush()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// or is lines, or what to say where there are none.
func or(lines []string, nothing string) []string {
	if lines == nil {
		return []string{nothing}
	}
	return lines
}

func by(shape []int, with string) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, with)
}

// appendNew is append for what the list does not have.
func appendNew[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
