package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Link installs a plugin out of Python packages that are on this machine already, for machines
// that reach no package index: dir is the site-packages folder that has them. The plugin is
// links to their files, so that it has to be linked again when the packages change; no
// checksum is known of them, so that it is Unpinned. Its version is theirs.
func Link(ctx context.Context, o Options, dir string) (Installed, error) {
	in, err := newInstaller(o)
	if err != nil {
		return Installed{}, fmt.Errorf("install: %w", err)
	}
	i, err := in.link(ctx, dir)
	if err != nil {
		return Installed{}, fmt.Errorf("install %s from %s: %w", in.Name, dir, err)
	}
	return i, nil
}

func (in *installer) link(ctx context.Context, dir string) (Installed, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Installed{}, err
	}
	if info, err := os.Stat(dir); err != nil {
		return Installed{}, reason(err)
	} else if !info.IsDir() {
		return Installed{}, errors.New("not a folder")
	}
	project := in.plugin.Wheels[0].Project
	about, _ := filepath.Glob(filepath.Join(dir, strings.ReplaceAll(project, "-", "_")+"-*.dist-info"))
	if len(about) != 1 {
		return Installed{}, fmt.Errorf("%d packages %s there: want the site-packages of a Python that has it (pip show -f %s)", len(about), project, project)
	}
	name := strings.TrimSuffix(filepath.Base(about[0]), ".dist-info")
	in.Version = name[strings.LastIndexByte(name, '-')+1:]
	if !versionText.MatchString(in.Version) {
		return Installed{}, fmt.Errorf("%q is not a version", in.Version)
	}
	unlock, err := in.begin()
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	return in.place(ctx, in.root()+".linked", name, func(i *Installed) (err error) { // next to one that was downloaded
		i.Unpinned = true
		i.Files, err = in.linkFiles(ctx, dir, i.Root)
		return err
	})
}

// linkFiles links what the plugin's wheels would bring, out of the folders that they are
// unpacked into.
func (in *installer) linkFiles(ctx context.Context, dir, staging string) (list []File, err error) {
	for _, top := range []string{"jax_plugins", "nvidia", "triton", "libtpu", "xla_plugins"} {
		err = filepath.WalkDir(filepath.Join(dir, top), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == filepath.Join(dir, top) {
				return nil
			}
			err = cmp.Or(err, ctx.Err())
			if err != nil || d.IsDir() {
				return err
			}
			inside, err := filepath.Rel(dir, path)
			if err != nil || !in.wants(filepath.ToSlash(inside)) {
				return err
			}
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			link := filepath.Join(staging, inside)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				return in.writeError(err, 0)
			}
			if err := os.Symlink(path, link); err != nil {
				return in.writeError(err, 0)
			}
			list = append(list, File{Path: filepath.ToSlash(inside), Size: info.Size()})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// wants reports whether a wheel of the plugin keeps a file. A folder that is called as one
// of them is that one's alone: Triton has an assembler, a libdevice and libraries of its
// own, of another CUDA.
func (in *installer) wants(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	own := slices.IndexFunc(in.plugin.Wheels, func(w Wheel) bool { return w.Project == top })
	for i, w := range in.plugin.Wheels {
		if (own < 0 || i == own) && w.keeps(name) {
			return true
		}
	}
	return false
}

// replaced begins the name of a folder that made way for another, on systems where two
// folders cannot change places in one step.
const replaced = ".replaced-"

// replaceFolder puts the folder from in the place of to, which may be there. On Linux and
// darwin one step does it, so that a plugin is there at any time. Elsewhere to first makes
// way, and is put back by restoreReplaced if the process ends before from has its place.
func replaceFolder(from, to string) error {
	if _, err := os.Lstat(to); err != nil {
		return os.Rename(from, to)
	}
	if exchange(from, to) == nil {
		return os.RemoveAll(from) // what to was
	}
	aside := filepath.Join(filepath.Dir(to), replaced+filepath.Base(to))
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if err := os.Rename(to, aside); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		os.Rename(aside, to)
		return err
	}
	return os.RemoveAll(aside)
}

// restoreReplaced puts back what made way for a folder that never came, and removes what
// made way for one that did.
func restoreReplaced(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), replaced)
		if !ok {
			continue
		}
		aside, to := filepath.Join(folder, e.Name()), filepath.Join(folder, name)
		if _, err := os.Lstat(to); err == nil || os.Rename(aside, to) != nil {
			os.RemoveAll(aside)
		}
	}
}
