//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadRegular: what has no end, or nobody at its other end, is not opened.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	fifo, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "file")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "is not a regular file", os.DevNull: "is not a regular file", "/dev/zero": "is not a regular file", dir: "is a folder", file: "is longer than 3 bytes", filepath.Join(dir, "none"): "no such file"} {
		if _, err := ReadRegular(path, 3); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if text, err := ReadRegular(file, 4); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}
