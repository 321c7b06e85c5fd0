package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"matladder/internal/files"
)

// Options say what to install and how.
type Options struct {
	Name     string   // of a Known plugin
	Version  string   // of its first wheel; "" is the pinned one
	Unpinned bool     // where no SHA-256 is known of what the index offers, take the index's own
	IndexURL string   // "" is PIP_INDEX_URL, or else the Python package index
	Folder   string   // "" is Folder()
	Platform Platform // zero is this machine's

	// Notice, unless nil, is told in a sentence what only the index vouches for,
	// before it is downloaded.
	Notice func(string)
	// Progress, unless nil, is told how far each download is; Total is -1 if the
	// server does not say.
	Progress func(Progress)
	// Check, unless nil, is asked whether the library at a path loads, before the
	// plugin is put in place; it returns its PJRT API version.
	Check func(ctx context.Context, library string) (api string, err error)
}

// Progress is the state of a download.
type Progress struct {
	File        string
	Index, Of   int // which wheel, from 1, of how many
	Done, Total int64
}

// installer is one installation.
type installer struct {
	Options
	plugin Plugin
	index  *url.URL
	client *http.Client
	pause  time.Duration                              // before the second attempt of a request
	stall  time.Duration                              // how long a download may bring less than stallBytes
	page   time.Duration                              // how long a page of the index may take, all attempts together
	open   func(path string, flags int) (file, error) // os.OpenFile
	free   func(dir string) (int64, error)            // bytes left on the disk of a folder
}

// file is what installer needs of an *os.File.
type file interface {
	io.WriteCloser
	Seek(offset int64, whence int) (int64, error)
	Truncate(size int64) error
	Sync() error
}

// OptionError says which of Options makes no sense, before anything is asked of the index.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// versionText is what a version may be made of: it becomes part of a path.
var versionText = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+!_]*$`)

// Install installs a plugin and returns it. A plugin of the same version that is whole already is
// not downloaded again, but becomes the one that Find returns. An option that makes no sense is
// an *OptionError. On any error, and when ctx ends, what was installed before is as it was; what
// was downloaded stays for the next attempt.
func Install(ctx context.Context, o Options) (Installed, error) {
	in, err := newInstaller(o)
	if err != nil {
		return Installed{}, fmt.Errorf("install: %w", err)
	}
	i, err := in.run(ctx)
	if err != nil {
		return Installed{}, fmt.Errorf("install %s %s: %w", in.Name, in.Version, err)
	}
	return i, nil
}

func newInstaller(o Options) (*installer, error) {
	p, err := Lookup(o.Name)
	if err != nil {
		return nil, err
	}
	o.Version = cmp.Or(o.Version, p.Wheels[0].Version)
	o.Platform = cmp.Or(o.Platform, Platform{runtime.GOOS, runtime.GOARCH})
	if !versionText.MatchString(o.Version) {
		return nil, &OptionError{fmt.Errorf("%q is not a version", o.Version)}
	}
	if o.Folder == "" {
		if o.Folder, err = Folder(); err != nil {
			return nil, err
		}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if !o.Unpinned {
		if err := p.Wheels[0].checkPinned(o.Version); err != nil {
			return nil, &OptionError{err}
		}
	}
	index, err := indexURL(o.IndexURL)
	if err != nil {
		return nil, &OptionError{err}
	}
	client, err := newClient()
	if err != nil {
		return nil, err
	}
	open := func(path string, flags int) (file, error) { return os.OpenFile(path, flags, 0o644) }
	return &installer{o, p, index, client, time.Second, time.Minute, 2 * time.Minute, open, FreeBytes}, nil
}

func (in *installer) root() string    { return filepath.Join(in.Folder, in.Name+"-"+in.Version) }
func (in *installer) partial() string { return filepath.Join(in.Folder, ".partial") }

func (in *installer) run(ctx context.Context) (Installed, error) {
	if err := os.MkdirAll(in.partial(), 0o755); err != nil {
		return Installed{}, in.writeError(err, 0)
	}
	unlock, err := in.begin()
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	restoreReplaced(in.Folder)
	i, err := readManifest(in.root())
	accepted := i.Vouched() == nil && (in.Unpinned || !i.Unpinned) // known files, or unpinned ones if they are asked for
	if err == nil && i.Damage() == nil && i.Platform == in.Platform.String() && accepted {
		i.InstalledAt = time.Now().UTC()
		return i, writeManifest(i)
	}
	files, err := in.chooseWheels(ctx)
	if err != nil {
		return Installed{}, err
	}
	var downloads []string
	i, err = in.place(ctx, in.root(), files[0].Name, func(i *Installed) (err error) { // a damaged plugin of this version makes way
		downloads, err = in.stage(ctx, files, i)
		return err
	})
	if err == nil {
		for _, path := range downloads {
			os.Remove(path)
		}
	}
	return i, err
}

// place has the plugin's files put into a folder of their own, its library checked and the manifest
// written there, and then has it take the place of root. source names where the library is from.
func (in *installer) place(ctx context.Context, root, source string, fill func(i *Installed) error) (Installed, error) {
	staging, err := os.MkdirTemp(in.Folder, ".staging-")
	if err != nil {
		return Installed{}, in.writeError(err, 0)
	}
	defer os.RemoveAll(staging)
	i := Installed{Name: in.Name, Version: in.Version, Platform: in.Platform.String(), LibraryPath: in.plugin.Library(), InstalledAt: time.Now().UTC(), Root: staging}
	if err := fill(&i); err != nil {
		return Installed{}, err
	}
	if _, err := os.Stat(i.Library()); err != nil {
		return Installed{}, fmt.Errorf("%s has no %s", source, i.LibraryPath)
	}
	if err := Inspect(i.Library(), in.Platform); err != nil {
		return Installed{}, fmt.Errorf("%s of %s: %w", i.LibraryPath, source, err)
	}
	if in.Check != nil {
		if i.API, err = in.Check(ctx, i.Library()); err != nil {
			return Installed{}, fmt.Errorf("%s: %w", source, err)
		}
	}
	if err := writeManifest(i); err != nil {
		return Installed{}, in.writeError(err, 0)
	}
	if err := replaceFolder(staging, root); err != nil {
		return Installed{}, in.writeError(err, 0)
	}
	i.Root = root
	return i, nil
}

// begin takes the folder, until unlock, and tidies up what others left in it that were killed.
func (in *installer) begin() (unlock func(), err error) {
	if err := os.MkdirAll(in.Folder, 0o755); err != nil {
		return nil, in.writeError(err, 0)
	}
	if unlock, err = lock(filepath.Join(in.Folder, ".lock")); err != nil {
		return nil, in.writeError(err, 0)
	}
	in.removeStaging()
	return unlock, nil
}

// lock takes the lock file at path until unlock; the system takes it back when the process ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := files.TryLock(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// chooseWheels chooses the file of every wheel from what the index offers, before anything
// is downloaded.
func (in *installer) chooseWheels(ctx context.Context) ([]indexFile, error) {
	files := make([]indexFile, len(in.plugin.Wheels))
	for k, w := range in.plugin.Wheels {
		version := w.Version
		if k == 0 {
			version = in.Version
		}
		if err := in.checkKnown(w, version); err != nil {
			return nil, err
		}
		offered, err := in.files(ctx, w.Project)
		if err != nil {
			return nil, err
		}
		if files[k], err = in.pick(w, version, offered); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// stage downloads every wheel, and then unpacks them into the folder of i. It returns the paths of
// the downloads.
func (in *installer) stage(ctx context.Context, files []indexFile, i *Installed) (downloads []string, err error) {
	for k, f := range files {
		path, err := in.download(ctx, f, func(done, total int64) {
			in.Progress(Progress{f.Name, k + 1, len(files), done, total})
		})
		if err != nil {
			return nil, err
		}
		downloads = append(downloads, path)
		i.Wheels = append(i.Wheels, Source{f.Name, f.URL.Redacted(), f.SHA256})
		i.Unpinned = i.Unpinned || !f.pinned
	}
	for k, path := range downloads {
		unpacked, err := in.extract(ctx, in.plugin.Wheels[k], path, files[k].Name, i.Root)
		if err != nil {
			return nil, err
		}
		i.Files = append(i.Files, unpacked...)
	}
	return downloads, nil
}

// removeStaging removes the staging folders of installations that were killed. The lock is
// held: nobody is using one.
func (in *installer) removeStaging() {
	entries, _ := os.ReadDir(in.Folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".staging-") {
			os.RemoveAll(filepath.Join(in.Folder, e.Name()))
		}
	}
}

// room returns an error if the disk has less than need bytes left.
func (in *installer) room(need int64) error {
	free, err := in.free(in.Folder)
	if err != nil || free >= need {
		return nil // a disk that does not tell will say when it is full
	}
	return fmt.Errorf("no space in %s: needs %d MB more, %d MB are free; free some, or set %s to another folder", in.Folder, megabytes(need), free/1e6, FolderVariable)
}

func megabytes(n int64) int64 { return (n + 1e6 - 1) / 1e6 }

// writeError says what to do about an error of writing to the folder.
func (in *installer) writeError(err error, need int64) error {
	switch {
	case isFull(err) && need > 0:
		return fmt.Errorf("no space in %s: needs %d MB more; free some, or set %s to another folder", in.Folder, megabytes(need), FolderVariable)
	case isFull(err):
		return fmt.Errorf("no space in %s: free some, or set %s to another folder", in.Folder, FolderVariable)
	case errors.Is(err, files.ErrLocked):
		return fmt.Errorf("another installation is at work in %s", in.Folder)
	}
	return fmt.Errorf("cannot write to %s: %w; set %s to a folder that can be written", in.Folder, reason(err), FolderVariable)
}

// reason takes the path off an error of package os.
func reason(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
