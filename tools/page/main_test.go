package main

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"matladder/internal/cli"
)

const begin, end = "<!-- peers:begin -->", "<!-- peers:end -->"

func page(t *testing.T, text, content string) (code int, stderr, after string) {
	t.Helper()
	if err := os.WriteFile("page.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	code = run([]string{"peers", "page.md"}, strings.NewReader(content), io.Discard, &errs)
	left, err := os.ReadFile("page.md")
	if err != nil {
		t.Fatal(err)
	}
	return code, errs.String(), string(left)
}

// TestPage: what stands between the marks is replaced, with the page's ends of lines, and a page
// without them stays.
func TestPage(t *testing.T) {
	t.Chdir(t.TempDir())
	before, behind := "# Title\n\ntext\n"+begin, end+"\nmore"
	for _, ends := range []string{"\n", "\r\n"} {
		as := func(text string) string { return strings.ReplaceAll(text, "\n", ends) }
		code, stderr, after := page(t, as(before+"\nold\n"+behind), "new\nlines\n")
		if want := as(before + "\n\nnew\nlines\n\n" + behind); code != cli.OK || after != want {
			t.Errorf("exit %d, %s%q, want %q", code, stderr, after, want)
		}
	}
	for text, want := range map[string]string{
		"no marks":                      begin + " stands in it 0 times",
		begin + begin + end:             begin + " stands in it 2 times",
		end + "\n" + begin:              end + " stands before " + begin,
		begin + "\n" + "only the first": end + " stands in it 0 times",
	} {
		if code, stderr, after := page(t, text, "new\n"); code != cli.Usage || !strings.Contains(stderr, "page.md: ") || !strings.Contains(stderr, want) || after != text {
			t.Errorf("%q: exit %d, %s, left %q", text, code, stderr, after)
		}
	}
	if code, stderr, after := page(t, begin+end, ""); code != cli.Failed || !strings.Contains(stderr, "nothing to put into page.md") || after != begin+end {
		t.Errorf("nothing: exit %d, %s", code, stderr)
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink("page.md", "link.md"); err != nil {
			t.Fatal(err)
		}
		if code := run([]string{"peers", "link.md"}, strings.NewReader("new"), io.Discard, io.Discard); code != cli.OK {
			t.Errorf("a link: exit %d", code)
		}
		if info, err := os.Lstat("link.md"); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Error("a link was replaced by a file")
		}
	}
}
