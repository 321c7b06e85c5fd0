package cli

import (
	"bytes"
	"fmt"
	"slices"
)

// Marks are the lines of their own around what a command writes into a page.
func Marks(name string) (begin, end string) {
	return "<!-- " + name + ":begin -->", "<!-- " + name + ":end -->"
}

// Between returns a page with content in place of what stands between the marks of a
// name, its lines ended as those of the page. Each mark must stand there once.
func Between(page, content []byte, name string) ([]byte, error) {
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
