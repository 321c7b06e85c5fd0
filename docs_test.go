package matladder_test

import (
	"bytes"
	"os"
	"testing"

	"matladder/internal/golden"
)

// TestDocs_Program: the program of docs/library.md is the one of folder examples, which CI
// builds and runs; -update writes it there.
func TestDocs_Program(t *testing.T) {
	const page = "docs/library.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/multiply/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ = bytes.Cut(program, []byte("\n")) // the package's comment
	before, rest, ok := bytes.Cut(text, []byte("<!-- multiply:begin -->\n"))
	_, after, ended := bytes.Cut(rest, []byte("<!-- multiply:end -->\n"))
	if !ok || !ended {
		t.Fatalf("%s has no marks around the program", page)
	}
	want := bytes.Join([][]byte{before, []byte("<!-- multiply:begin -->\n```go\n"), program, []byte("```\n<!-- multiply:end -->\n"), after}, nil)
	golden.Assert(t, page, want)
}
