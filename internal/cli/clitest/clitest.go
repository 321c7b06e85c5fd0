// Package clitest holds the examples of commands in the documentation to what the commands print.
package clitest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Page has the examples of all commands, relative to the package of one.
var Page = filepath.FromSlash("../../../docs/commands.md")

// An Example is a command line of a page, and what the page says that it prints.
type Example struct {
	Args []string
	Want string // … stands for anything, on a line of its own for any lines
}

// Examples are those of a command in the page: lines of fenced blocks that begin with
// "$ command ", and those below. There must be so many at least.
func Examples(t *testing.T, command string, least int) (list []Example) {
	t.Helper()
	text, err := os.ReadFile(Page)
	if err != nil {
		t.Fatal(err)
	}
	fenced, open := false, false
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
		args, isCommand := strings.CutPrefix(line, "$ "+command+" ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced, open = !fenced, false
		case fenced && isCommand:
			list, open = append(list, Example{Args: strings.Fields(args)}), true
		case open && strings.HasPrefix(line, "$ "):
			open = false
		case open:
			list[len(list)-1].Want += line
		}
	}
	if len(list) < least {
		t.Fatalf("%s has %d examples of %s, want %d", Page, len(list), command, least)
	}
	return list
}

// InManual are the examples of a command's help that show what they print.
func InManual(command, manual string) (list []Example) {
	open := false
	for line := range strings.Lines(strings.ReplaceAll(manual, "\r\n", "\n")) {
		line, shown := strings.CutPrefix(line, "    ")
		args, isCommand := strings.CutPrefix(line, "$ go run ./cmd/"+command+" ")
		switch {
		case shown && isCommand:
			list, open = append(list, Example{Args: strings.Fields(args)}), true
		case open && shown:
			list[len(list)-1].Want += line
		default:
			open = false
		}
	}
	return slices.DeleteFunc(list, func(e Example) bool { return e.Want == "" })
}

// Check compares what the command printed, whatever the widths of its columns.
func (e Example) Check(t *testing.T, printed string) {
	t.Helper()
	var want strings.Builder
	for line := range strings.Lines(squeeze(e.Want)) {
		if line == "…\n" {
			want.WriteString(`(?:.*\n)*`)
			continue
		}
		want.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `.*`))
	}
	if !regexp.MustCompile(`^` + want.String() + `$`).MatchString(squeeze(printed)) {
		t.Errorf("%s prints\n%s\nthe documentation shows\n%s", strings.Join(e.Args, " "), printed, e.Want)
	}
}

var spaces = regexp.MustCompile(` +`)

// squeeze makes one space of several, and leaves empty lines out.
func squeeze(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(spaces.ReplaceAllString(line, " ")); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
