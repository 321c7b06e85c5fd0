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

// Fill returns the page that a flag names with content in place of what stands between the
// marks of a name.
func Fill(flag, path, name string, content []byte) ([]byte, error) {
	page, err := files.Read(path)
	if err != nil {
		return nil, Input(flag, err)
	}
	whole, err := between(page, content, name)
	if err != nil {
		return nil, Input(flag, fmt.Errorf("%s: %w", path, err))
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
