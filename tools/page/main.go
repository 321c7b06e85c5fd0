// Page puts what it reads between two marks of a page, and leaves every other byte as it is: the
// lines <!-- NAME:begin --> and <!-- NAME:end -->.
//
//	go run ./cmd/plot --as md | go run ./tools/page ladder README.md
//	go run ./cmd/peers --report out/peers.csv | go run ./tools/page peers docs/notebook/peers/epyc_avx2.md
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"matladder/internal/cli"
	"matladder/internal/files"
)

func main() {
	cli.Main("page", func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(args, os.Stdin, stdout, stderr)
	})
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.End("page", fill(args, stdin), "interrupted", stdout, stderr)
}

func fill(args []string, stdin io.Reader) error {
	f := cli.NewFlags("page")
	if err := cli.Parse(f, args, "usage: page NAME PAGE"); err != nil {
		return err
	}
	if f.NArg() != 2 {
		return cli.Usagef("want the name of the marks and a page, as in: page ladder README.md")
	}
	name, path := f.Arg(0), f.Arg(1)
	page, err := files.Read(path)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	content, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return fmt.Errorf("nothing to put into %s", path)
	}
	whole, err := between(page, content, name)
	if err != nil {
		return cli.Usagef("%s: %w", path, err)
	}
	return files.Replace(path, whole)
}

// between returns a page with content in place of what stands between the marks of a
// name, its lines ended as those of the page. Each mark must stand there once.
func between(page, content []byte, name string) ([]byte, error) {
	beginMark, endMark := "<!-- "+name+":begin -->", "<!-- "+name+":end -->"
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
