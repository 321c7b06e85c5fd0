package bench

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
)

// columns is the line of a table that names them.
var columns = regexp.MustCompile(`(?m)^ +kernel .* median .*`)

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
		if header := columns.FindString(printed.String()); header != "" && !strings.Contains(strings.Join(strings.Fields(manual), " "), strings.Join(strings.Fields(strings.TrimSuffix(header, "reason")), " ")) {
			t.Errorf("the help shows a table with other columns than %s", header)
		}
		e.Check(t, once.ReplaceAllString(printed.String(), "")) // again where it was disturbed
	}
}
