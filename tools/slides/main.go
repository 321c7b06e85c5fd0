// Slides turns the lessons of the workshop into what is shown and what is given away: a deck for
// Marp, and a handout with room for each prediction. scripts/slides makes HTML and PDF of both.
//
//	go run ./tools/slides              # out/slides.md, out/handout.md
package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"matladder/internal/cli"
	"matladder/internal/files"
)

func main() { cli.Main("slides", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("slides", slides(args, stdout), "interrupted", stdout, stderr)
}

func slides(args []string, stdout io.Writer) error {
	f := cli.NewFlags("slides")
	folder := f.String("folder", "out", "write into `DIR`")
	if err := cli.Parse(f, args, "usage: slides [flags]"); err != nil {
		return err
	}
	for _, page := range []struct {
		name string
		make func() (string, error)
	}{{"slides.md", deck}, {"handout.md", handout}} {
		text, err := page.make()
		if err != nil {
			return err
		}
		path := filepath.Join(*folder, page.name)
		if err := files.Write(path, []byte(text)); err != nil {
			return err
		}
		fmt.Fprintln(stdout, filepath.ToSlash(path))
	}
	return nil
}
