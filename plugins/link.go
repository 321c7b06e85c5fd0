package plugins

import (
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
			if err == nil {
				err = ctx.Err()
			}
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
