// Package filestest has what tests of commands that write files need.
package filestest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ReadOnly returns a folder in which nobody may make a file, not even root. Where there
// is none, the test is skipped.
func ReadOnly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil { // root may write anywhere, but not here
		f.Close()
		if dir = "/proc"; runtime.GOOS != "linux" {
			t.Skip("this user may write anywhere")
		}
	}
	return dir
}
