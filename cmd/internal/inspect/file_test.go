package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/cli"
)

// TestFile: a kernel that is written as JSON and read again is shown as the kernel is.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	for _, kernel := range []string{"v3 --sizes 300x200x256", "v5 --sizes 256 --dtype int8:per_channel+token"} {
		file := filepath.Join(dir, "p.json")
		if code, stdout, stderr := inspect(append(strings.Fields(kernel), "--as", "json", "--out", file)...); code != cli.OK {
			t.Fatalf("exit %d, %q %q", code, stdout, stderr)
		}
		for _, way := range []string{"tile", "json", "steps", "traverse", "mosaic", "stablehlo"} {
			_, want, _ := inspect(append(strings.Fields(kernel), "--as", way)...)
			code, got, stderr := inspect(file, "--as", way)
			if code != cli.OK || got != want || want == "" {
				t.Errorf("%s as %s: exit %d, %s\n%s\nwant\n%s", kernel, way, code, stderr, got, want)
			}
		}
		for way, want := range map[string]string{"counts": "attainable", "plan": "1 program in a launch\n"} {
			if code, stdout, stderr := inspect(file, "--as", way); code != cli.OK || !strings.Contains(stdout, want) {
				t.Errorf("%s as %s: exit %d\n%s%s", kernel, way, code, stdout, stderr)
			}
		}
	}
	torn := filepath.Join(dir, "torn.json")
	if err := os.WriteFile(torn, []byte(`{"format":"matladder tile programs 2","programs":[{"name":"x"`), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		torn:                                "torn.json: tile: no programs as JSON: the text ends too early\n",
		filepath.Join(dir, "none.json"):     "none.json: ",
		dir + "/p.json --sizes 8":           "--sizes is for a kernel",
		dir + "/p.json --blocks 8x8x8":      "--blocks is for a kernel",
		dir + "/p.json --as json --steps 3": "--steps is for",
	} {
		if code, _, stderr := inspect(strings.Fields(args)...); code != cli.Usage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("inspect %s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}
