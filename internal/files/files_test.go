package files

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// put makes a file.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// holds checks what is in a file, and that nothing was left beside it.
func holds(t *testing.T, path, want string, beside int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, want %q: %v", path, text, want, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != beside+1 {
		t.Errorf("in its folder is %v: %v", entries, err)
	}
}

func TestReplace(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Replace("new", []byte("one")); err != nil {
		t.Fatal(err)
	}
	holds(t, "new", "one", 0)
	if err := os.Chmod("new", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Writable("new"); err != nil {
		t.Error(err)
	}
	if err := Replace("new", []byte("two")); err != nil {
		t.Fatal(err)
	}
	holds(t, "new", "two", 0)
	if info, err := os.Stat("new"); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Symlink("new", "link"); err != nil {
		t.Fatal(err)
	}
	if err := Replace("link", []byte("three")); err != nil {
		t.Fatal(err)
	}
	holds(t, "new", "three", 1)
	if to, err := os.Readlink("link"); err != nil || to != "new" {
		t.Errorf("a link was replaced by a file: %q, %v", to, err)
	}
}

// TestReplace_Refused: what cannot be written is as it was, and said in the words of
// the caller.
func TestReplace_Refused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, "file", "mine")
	for path, want := range map[string]string{
		"folder":    "cannot write folder: it is a folder",
		"none/x":    "cannot write none/x: ",
		"file/x":    "cannot write file/x: ",
		"folder/..": "it is a folder",
	} {
		for what, err := range map[string]error{"Replace": Replace(path, []byte("theirs")), "Writable": Writable(path)} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s(%s): %v, want %s", what, path, err, want)
			}
		}
	}
	holds(t, "file", "mine", 1)

	if err := os.Chmod("file", 0o444); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile("file", os.O_WRONLY, 0); err == nil {
		f.Close()
		t.Skip("this user may write everywhere")
	}
	if err := Replace("file", []byte("theirs")); err == nil || !strings.HasPrefix(err.Error(), "cannot write file: ") {
		t.Errorf("a file that may not be written: %v", err)
	}
	holds(t, "file", "mine", 1)
}

// TestDevices: what is no file is written to and stays what it is, and what does not
// end is not read for ever.
func TestDevices(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	if _, err := Read("/dev/zero"); err == nil || err.Error() != "/dev/zero is longer than 64 MiB" {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if out, err := exec.Command("mkfifo", "pipe").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	read := make(chan string)
	go func() {
		text, err := Read("pipe")
		read <- fmt.Sprintf("%s %v", text, err)
	}()
	if err := Replace("pipe", []byte("text")); err != nil {
		t.Error(err)
	}
	if got := <-read; got != "text <nil>" {
		t.Errorf("through the pipe came %q", got)
	}
	if info, err := os.Lstat("pipe"); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v: %v", info.Mode(), err)
	}
}

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "file", "text")
	if text, err := Read("file"); err != nil || !bytes.Equal(text, []byte("text")) {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Read("."); err == nil || err.Error() != ". is a folder, not a file" {
		t.Error(err)
	}
	if _, err := Read("none"); !os.IsNotExist(err) {
		t.Error(err)
	}
}
