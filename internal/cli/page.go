package cli

import (
	"bytes"
	"fmt"
	"slices"

	"matladder/internal/files"
)

// Marks are the lines of their own around what a command writes into a page.
func Marks(name string) (begin, end string) {
	return "<!-- " + name + ":begin -->", "<!-- " + name + ":end -->"
}

// A Page is a file that a flag names, in which a command writes between marks.
type Page struct {
	flag, path string
	text       []byte
}

// ReadPage reads the page that a flag names.
func ReadPage(flag, path string) (Page, error) {
	text, err := files.Read(path)
	return Page{flag, path, text}, Input(flag, err)
}

// With returns the page with content in place of what stands between the marks of a name.
func (p Page) With(content []byte, name string) ([]byte, error) {
	whole, err := between(p.text, content, name)
	if err != nil {
		return nil, Input(p.flag, fmt.Errorf("%s: %w", p.path, err))
	}
	return whole, nil
}

// between returns a page with content in place of what stands between the marks of a
// name, its lines ended as those of the page. Each mark must stand there once.
func between(page, content []byte, name string) ([]byte, error) {
	beginMark, endMark := Marks(name)
	for _, mark := range []string{beginMark, endMark} {
		if n := bytes.Count(page, []byte(mark)); n != 1 {
			return nil, fmt.Errorf("the mark %s stands in it %d times, it must once", mark, n)
		}
	}
	begin := bytes.Index(page, []byte(beginMark)) + len(beginMark)
	end := bytes.Index(page, []byte(endMark))
	if end < begin {
		return nil, fmt.Errorf("%s stands before %s", endMark, beginMark)
	}
	newline := "\n"
	if bytes.Contains(page[:begin], []byte("\r\n")) {
		newline = "\r\n"
		content = bytes.ReplaceAll(content, []byte("\n"), []byte(newline))
	}
	return slices.Concat(page[:begin], []byte(newline+newline), content, []byte(newline), page[end:]), nil
}
