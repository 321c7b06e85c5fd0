package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/workshop"
)

// TestSlides: every lesson is there, code is whole, and no slide is much longer than it
// may be, or but for answers has next to nothing.
func TestSlides(t *testing.T) {
	dir := t.TempDir()
	if err := slides([]string{"--folder", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	deck, paper := read("slides.md"), read("handout.md")
	list := strings.Split(deck, "\n---\n")[2:] // behind the head
	for _, s := range list {
		if strings.Count(s, "```")%2 != 0 {
			t.Errorf("code is cut:\n%s", s)
		}
		w := 0.0
		for _, block := range blocks(s) {
			w += weigh(block)
		}
		if w > mostWeight+4 || w < 5 && strings.Contains(s, "(continued)") {
			t.Errorf("a slide of weight %.0f:\n%s", w, s)
		}
	}
	for _, e := range workshop.All {
		page, err := e.Page()
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(page, "\n")
		for _, line := range []string{title, "go run ./cmd/workshop check"} {
			if !strings.Contains(deck, line) {
				t.Errorf("no slide has %q", line)
			}
		}
		for _, line := range append([]string{strings.TrimPrefix(title, "# "), e.File()}, question.FindAllString(predict.FindStringSubmatch(page)[1], -1)...) {
			if !strings.Contains(paper, line) {
				t.Errorf("the handout lacks %q", line)
			}
		}
	}
}
