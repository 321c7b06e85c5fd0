package plot

import (
	"strings"
	"testing"
)

// TestRun_Interpreted leaves rows of variant interpret out of pictures, and shows
// them in tables.
func TestRun_Interpreted(t *testing.T) {
	workplace(t)
	const file = "out/20261120-101500.csv"
	text := read(t, file)
	const plain, interpreted = ",v3_block,,", ",v3_block,interpret,"
	if !strings.Contains(text, plain) {
		t.Fatalf("no %q in the sample", plain)
	}
	write(t, file, strings.ReplaceAll(text, plain, interpreted))
	code, stdout, stderr := plot("--format=svg")
	if code != 0 || strings.Contains(stdout, "kernel_3") || !strings.Contains(stdout, "kernel_4") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := plot("--table", "csv"); code != 0 || !strings.Contains(stdout, "interpret") {
		t.Errorf("exit %d: the table has no interpreted rows\n%s", code, stdout)
	}
	var only []string
	for i, line := range strings.SplitAfter(text, "\n") {
		if i == 0 || strings.Contains(line, plain) {
			only = append(only, strings.Replace(line, plain, interpreted, 1))
		}
	}
	write(t, file, strings.Join(only, ""))
	if code, stdout, stderr := plot(); code != 1 || stdout != "" || !strings.Contains(stderr, "no picture shows that") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}
