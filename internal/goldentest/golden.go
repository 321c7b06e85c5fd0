// Package goldentest compares what a test produced with a file beside the test.
//
// One flag serves every test of the repository: `go test ./somepkg -update`
// writes the files anew. Review the diff before committing it.
//
// On a mismatch Assert shows a diff and leaves what it got in path + ".got". It never writes the
// golden file without the flag, so a missing file is a failure and not a new truth.
package goldentest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Updating reports whether -update was given, for tests whose golden is not a
// single text (a picture, a folder).
func Updating() bool { return *update }

// Assert fails t unless got equals the content of the file at path, which is
// relative to the test's package. Line endings are compared as LF, so that a
// checkout that turns them into CRLF still passes.
func Assert(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		os.Remove(path + ".got")
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v (run the test with -update to write it)", err)
		leave(t, path, got)
		return
	}
	if bytes.Equal(unix(got), unix(want)) {
		os.Remove(path + ".got")
		return
	}
	diff := cmp.Diff(lines(want), lines(got))
	t.Errorf("%s differs (-want +got); -update accepts it:\n%s", path, diff)
	leave(t, path, got)
}

func leave(t testing.TB, path string, got []byte) {
	t.Helper()
	if err := os.WriteFile(path+".got", got, 0o644); err != nil {
		t.Logf("cannot leave %s.got: %v", path, err)
	}
}

func unix(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

func lines(b []byte) []string { return strings.SplitAfter(string(unix(b)), "\n") }
