package main

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"matladder/internal/cli"
)

// example is a command of the package documentation with the output shown there.
type example struct {
	args []string
	want []string // lines; … stands for anything, on a line of its own for any lines
}

// examples finds the blocks of the documentation that begin with "$ bench".
func examples(t *testing.T) []example {
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	open := false
	for _, line := range strings.Split(f.Doc.Text(), "\n") {
		command, isCommand := strings.CutPrefix(line, "\t$ bench ")
		shown, isShown := strings.CutPrefix(line, "\t")
		switch {
		case isCommand:
			list = append(list, example{args: strings.Fields(command)})
			open = true
		case open && isShown:
			last := &list[len(list)-1]
			last.want = append(last.want, shown)
		default:
			open = false
		}
	}
	return list
}

// TestDoc runs each example of the documentation, in order and in one folder, and
// compares the output: stdout, or stderr for a mistake.
func TestDoc(t *testing.T) {
	list := examples(t)
	if len(list) < 7 {
		t.Fatalf("found %d examples", len(list))
	}
	t.Chdir(t.TempDir())
	for _, e := range list {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), e.args, &stdout, &stderr)
		got := stdout.String()
		if code == cli.Usage {
			got = once.ReplaceAllString(stderr.String(), "") // again where it was disturbed
		}
		if !pattern(e.want).MatchString(squeeze(got)) {
			t.Errorf("bench %s (exit %d) prints\n%s\nthe documentation shows\n%s", strings.Join(e.args, " "), code, got, strings.Join(e.want, "\n"))
		}
	}
}

// pattern matches output whose columns may have other widths.
func pattern(lines []string) *regexp.Regexp {
	var b strings.Builder
	for _, line := range lines {
		if line == "…" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		line = regexp.QuoteMeta(strings.TrimSuffix(squeeze(line), "\n"))
		b.WriteString(strings.ReplaceAll(line, "…", `.*`) + `\n`)
	}
	return regexp.MustCompile(`^` + b.String() + `$`)
}

var spaces = regexp.MustCompile(` +`)

func squeeze(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimSpace(spaces.ReplaceAllString(line, " ")) + "\n")
	}
	return strings.TrimLeft(b.String(), "\n")
}
