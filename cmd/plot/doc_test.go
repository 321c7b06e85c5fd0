package main

import (
	"os"
	"strings"
	"testing"

	"matladder/internal/cli"

	"github.com/google/go-cmp/cmp"
)

// TestManual runs every command of the package doc and compares what it
// prints with what the doc says.
func TestManual(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "//\t$ go run ./cmd/plot"
	runs := 0
	lines := strings.Split(strings.ReplaceAll(string(doc), "\r\n", "\n"), "\n")
	for i, line := range lines {
		args, ok := strings.CutPrefix(line, prompt)
		if !ok {
			continue
		}
		var want strings.Builder
		for _, next := range lines[i+1:] {
			text, ok := strings.CutPrefix(next, "//\t")
			if !ok {
				break
			}
			want.WriteString(text + "\n")
		}
		t.Run(strings.TrimSpace(args), func(t *testing.T) {
			workplace(t)
			code, stdout, stderr := plot(strings.Fields(strings.ReplaceAll(args, "'", ""))...)
			if code != cli.OK || stderr != "" {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if diff := cmp.Diff(want.String(), stdout); diff != "" {
				t.Errorf("-doc +printed:\n%s", diff)
			}
		})
		runs++
	}
	if runs < 4 {
		t.Errorf("only %d commands found in the manual", runs)
	}
}

// TestManual_Flags: the manual names every flag.
func TestManual_Flags(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(o.usage) {
		if strings.HasPrefix(word, "--") && !strings.Contains(string(doc), word) {
			t.Errorf("%s is not in the manual", word)
		}
	}
}
