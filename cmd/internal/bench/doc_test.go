package bench

import (
	"bytes"
	"context"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
)

// TestDoc runs each example of the documentation, in order and in one folder, and
// compares the output: stdout, or stderr for a mistake.
func TestDoc(t *testing.T) {
	list := clitest.Examples(t, "bench", 7)
	t.Chdir(t.TempDir())
	for _, e := range list {
		var stdout, stderr bytes.Buffer
		printed := &stdout
		if code := Run(context.Background(), e.Args, &stdout, &stderr); code == cli.Usage {
			printed = &stderr
		}
		e.Check(t, once.ReplaceAllString(printed.String(), "")) // again where it was disturbed
	}
}
