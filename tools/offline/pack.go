package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"matladder/internal/files"
	"matladder/plugins"
	"matladder/workshop/classroom"
)

//go:embed OFFLINE.md
var page string

// pack writes a gzipped tar archive from which the workshop runs without a network: the
// repository at folder, its modules as vendor/, its pages and the plugins named. It returns what
// is in it, a line each. path is replaced as a whole or not at all.
func pack(ctx context.Context, folder, file string, names []string) (contents []string, err error) {
	sources, err := tracked(ctx, folder)
	if err != nil {
		return nil, err
	}
	var found []plugins.Installed
	for _, name := range names {
		p, err := plugins.Find(name)
		if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	modules, err := os.MkdirTemp("", "matladder-vendor")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(modules)
	vendor := exec.CommandContext(ctx, "go", "mod", "vendor", "-o", filepath.Join(modules, "vendor"))
	vendor.Dir = folder
	if out, err := vendor.CombinedOutput(); err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("go mod vendor: %w: %s", err, strings.Join(strings.Fields(string(out)), " ")))
	}
	if err := classroom.MakePages(ctx, folder, filepath.Join(modules, classroom.Pages)); err != nil {
		return nil, err
	}
	if err := files.MakeFolder(file); err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return nil, err
	}
	defer func() {
		out.Close()
		if err != nil {
			os.Remove(out.Name())
		}
	}()
	z := gzip.NewWriter(out)
	a := &archive{ctx: ctx, tar: tar.NewWriter(z)}
	for _, name := range sources {
		a.file(filepath.Join(folder, name), path.Join("matladder", filepath.ToSlash(name)))
	}
	contents = append(contents, a.since("files of the repository"))
	a.folder(filepath.Join(modules, "vendor"), "matladder/vendor")
	contents = append(contents, a.since("files of modules (vendor/)"))
	a.folder(filepath.Join(modules, classroom.Pages), "matladder/"+classroom.Pages)
	contents = append(contents, a.since("files of pages ("+classroom.Pages+"/)"))
	for _, p := range found {
		a.folder(p.Root, "matladder/.plugins/"+filepath.Base(p.Root))
		contents = append(contents, a.since("files of plugin "+p.Name+" "+p.Version+" (.plugins/)"))
	}
	a.text("matladder/OFFLINE.md", page)
	if err := errors.Join(a.err, a.tar.Close(), z.Close(), out.Sync(), out.Close()); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := os.Chmod(out.Name(), 0o644); err != nil {
		return nil, err
	}
	return contents, os.Rename(out.Name(), file)
}

// tracked lists the files of the repository: those that git knows and that are there,
// or without git all but what is made (out/, vendor/).
func tracked(ctx context.Context, folder string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(folder, "workshop", "lesson0.md")); err != nil {
		return nil, errors.New("no workshop/lesson0.md here: run this from the repository's top folder")
	}
	list := exec.CommandContext(ctx, "git", "ls-files", "-z")
	list.Dir = folder
	if out, err := list.Output(); err == nil {
		var names []string
		for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
			if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && info.Mode().IsRegular() {
				names = append(names, name)
			}
		}
		return names, nil
	}
	var names []string
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, at)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "out" || name == classroom.Pages || name == "vendor" || name == ".git" || name == ".plugins"):
			return filepath.SkipDir
		case d.Type().IsRegular():
			names = append(names, name)
		}
		return ctx.Err()
	})
	return names, err
}

// An archive takes files until the first error.
type archive struct {
	ctx   context.Context
	tar   *tar.Writer
	count int
	bytes int64
	err   error
}

func (a *archive) since(what string) string {
	s := fmt.Sprintf("%d %s, %.1f MB", a.count, what, float64(a.bytes)/1e6)
	a.count, a.bytes = 0, 0
	return s
}

func (a *archive) folder(from, to string) {
	err := filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		a.file(at, path.Join(to, filepath.ToSlash(name)))
		return a.err
	})
	if a.err == nil {
		a.err = err
	}
}

// file adds a regular file; a link becomes what it leads to.
func (a *archive) file(from, to string) {
	if a.err = errors.Join(a.err, a.ctx.Err()); a.err != nil {
		return
	}
	in, err := os.Open(from)
	if err != nil {
		a.err = err
		return
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		mode := int64(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		err = a.tar.WriteHeader(&tar.Header{Name: to, Mode: mode, Size: info.Size(), ModTime: info.ModTime()})
	}
	if err == nil {
		_, err = io.Copy(a.tar, in)
	}
	a.count, a.bytes, a.err = a.count+1, a.bytes+info.Size(), err
}

func (a *archive) text(name, text string) {
	if a.err != nil {
		return
	}
	if a.err = a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); a.err == nil {
		_, a.err = io.WriteString(a.tar, text)
	}
}
