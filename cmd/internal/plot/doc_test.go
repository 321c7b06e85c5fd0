package plot

import (
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
)

// TestManual runs every example of the documentation.
func TestManual(t *testing.T) {
	for _, e := range append(clitest.Examples(t, "plot", 4), clitest.InManual("plot", manual)...) {
		t.Run(strings.Join(e.Args, " "), func(t *testing.T) {
			workplace(t)
			for i, arg := range e.Args {
				e.Args[i] = strings.ReplaceAll(arg, "'", "")
			}
			code, stdout, stderr := plot(e.Args...)
			if code != cli.OK || stderr != "" {
				t.Errorf("exit %d: %s", code, stderr)
			}
			e.Check(t, stdout)
		})
	}
}
