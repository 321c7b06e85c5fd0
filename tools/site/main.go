// Site makes the documentation of this repository a static site.
//
//	go run -C tools/site . [--out DIR] [--base URL] [--check] [--serve]
//
// It reads README.md, CONTRIBUTING.md, docs, the lessons of the workshop, the READMEs of
// kernels and every other page that one of these links to. Its navigation is docs/README.md:
// each level-two heading is a section, each item of a list that begins with a link is a page.
// A page for each command is made of its package comment. The site needs no server and no
// network: links are relative, and search is a file.
//
//	go run -C tools/site .            out/site/index.html
//	go run -C tools/site . --serve    the same, at http://127.0.0.1:8080
//	go run -C tools/site . --check    links only, in a second; writes nothing
//
// Each relative link, anchor and image must lead somewhere; one that does not is named with
// file and line, and the command ends with 1. Links to web sites are not followed. Links to
// source files lead to pages that show them, or with --base URL to the repository's hosting:
// --base https://example.com/matladder/blob/main.
//
// A folder that has files this command did not write is never overwritten.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// options are what the flags say. Paths are as they are given, from the root of the repository.
type options struct {
	root, out, base, addr string
	check, serve          bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "site:", err)
		if _, usage := errors.AsType[usageError](err); usage {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

type usageError struct{ error }

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("site", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "out/site", "write the site to `folder`, a path from the repository's root")
	flags.StringVar(&o.base, "base", "", "link source files to `URL`, the repository's files on its hosting")
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "serve at `address`")
	flags.BoolVar(&o.check, "check", false, "check links and write nothing")
	flags.BoolVar(&o.serve, "serve", false, "serve the site until Ctrl-C")
	flags.SetOutput(io.Discard) // a mistake is one line
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Println("go run -C tools/site . [flags]: the documentation as a static site")
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return err
	} else if err != nil {
		return usageError{err}
	}
	switch {
	case flags.NArg() > 0:
		return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	case o.check && o.serve:
		return usageError{errors.New("--check writes nothing to --serve")}
	}
	root, err := findRoot()
	if err != nil {
		return err
	}
	o.root = root
	if !filepath.IsAbs(o.out) {
		o.out = filepath.Join(root, o.out)
	}

	begin := time.Now()
	s := newSite(os.DirFS(root), root, o.base)
	if err := s.build(ctx, !o.check); err != nil {
		return err
	}
	if !o.check {
		if err := s.write(o.out); err != nil {
			return err
		}
		fmt.Printf("%s: %d pages, %d files, %.1f s\n", filepath.Join(o.out, "index.html"), len(s.pages), len(s.files), time.Since(begin).Seconds())
	}
	if len(s.problems) > 0 {
		return fmt.Errorf("%d broken:\n%s", len(s.problems), strings.Join(s.problems, "\n"))
	}
	if o.check {
		fmt.Printf("%d pages, %d links: all lead somewhere\n", len(s.pages), s.checked)
	}
	if o.serve {
		return serve(ctx, o.out, o.addr)
	}
	return nil
}

// findRoot is the folder of the repository, above the working folder.
func findRoot() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := at; ; dir = filepath.Dir(dir) {
		if isDir(filepath.Join(dir, "docs")) && isDir(filepath.Join(dir, "cmd")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not in the repository: no folder above it has docs and cmd", at)
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// serve shows a folder until the context ends.
func serve(ctx context.Context, folder, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(folder)), ReadHeaderTimeout: 10 * time.Second}
	fmt.Printf("http://%s (Ctrl-C ends)\n", listener.Addr())
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
