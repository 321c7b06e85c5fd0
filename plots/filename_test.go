package plots

import (
	"strings"
	"testing"
)

// TestFileSafe: a name of any length makes a file, and two that begin alike make two.
func TestFileSafe(t *testing.T) {
	long := strings.Repeat("../v1 naive", 400)
	a, b := fileSafe(long), fileSafe(long+"x")
	if len(a) > maxName || len(b) > maxName || a == b || strings.ContainsAny(a, "/ ") {
		t.Errorf("%q and %q", a, b)
	}
	if got := fileSafe("performance_ladder_float32"); got != "performance_ladder_float32" {
		t.Errorf("%q", got)
	}
}
