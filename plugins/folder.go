package plugins

import (
	"cmp"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/internal/files"
)

// FolderVariable is the environment variable that overrides where plugins live.
const FolderVariable = "MATLADDER_PLUGINS"

// Folder returns where plugins live, as an absolute path. It need not exist.
func Folder() (string, error) {
	if dir := os.Getenv(FolderVariable); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for plugins: %w: set %s", err, FolderVariable)
	}
	return filepath.Join(cache, "matladder", "plugins"), nil
}

// manifestName is the file that makes a folder an installed plugin.
const manifestName = "plugin.json"

// Installed is a plugin on disk.
type Installed struct {
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	Platform    string    `json:"platform"` // GOOS/GOARCH
	LibraryPath string    `json:"library"`  // inside Root, with slashes
	API         string    `json:"api"`      // PJRT API version, "" where it could not be asked
	InstalledAt time.Time `json:"installed_at"`
	Unpinned    bool      `json:"unpinned,omitempty"` // asked for as such: of one of Wheels, at least, only the index said what it is
	Wheels      []Source  `json:"wheels"`
	Files       []File    `json:"files"`
	Root        string    `json:"-"` // folder of the plugin, absolute
}

// Source is a wheel that a plugin was made of.
type Source struct {
	File   string `json:"file"`
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// File is an unpacked file.
type File struct {
	Path   string `json:"path"` // inside the plugin's folder, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"` // of its content when it was unpacked
}

// Library returns the absolute path of the shared library.
func (i Installed) Library() string { return filepath.Join(i.Root, filepath.FromSlash(i.LibraryPath)) }

// Damage returns what is missing or cut short, or nil.
func (i Installed) Damage() error {
	for _, f := range i.Files {
		info, err := os.Stat(filepath.Join(i.Root, filepath.FromSlash(f.Path)))
		switch {
		case err != nil:
			return fmt.Errorf("%s is missing: install it again", f.Path)
		case info.Size() != f.Size:
			return fmt.Errorf("%s has %d bytes instead of %d: install it again", f.Path, info.Size(), f.Size)
		}
	}
	return nil
}

// List returns the installed plugins by name, the one installed last first among
// those of one name. A folder that does not exist has none.
func List(folder string) ([]Installed, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	var all []Installed
	for _, e := range entries {
		if !e.IsDir() || e.Name()[0] == '.' {
			continue
		}
		if i, err := readManifest(filepath.Join(folder, e.Name())); err == nil {
			all = append(all, i)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b Installed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), b.InstalledAt.Compare(a.InstalledAt))
	})
	return all, nil
}

// NotInstalledError says which plugin is missing and how to get it.
type NotInstalledError struct{ Name string }

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("plugin %s is not installed: go run ./cmd/plugin install %s", e.Name, e.Name)
}

// Find returns the plugin of a name that was installed last; a
// *NotInstalledError if there is none. One that is damaged, or not Vouched for, is
// an error: nothing else is returned in its place.
func Find(name string) (Installed, error) {
	if _, err := Lookup(name); err != nil {
		return Installed{}, err
	}
	folder, err := Folder()
	if err != nil {
		return Installed{}, err
	}
	all, err := List(folder)
	if err != nil {
		return Installed{}, err
	}
	at := slices.IndexFunc(all, func(i Installed) bool { return i.Name == name })
	if at < 0 {
		return Installed{}, &NotInstalledError{name}
	}
	i := all[at]
	if err := cmp.Or(i.Damage(), i.Vouched()); err != nil {
		return Installed{}, fmt.Errorf("plugin %s in %s: %w", name, i.Root, err)
	}
	return i, nil
}

func readManifest(root string) (Installed, error) {
	text, err := files.ReadRegular(filepath.Join(root, manifestName), 16<<20)
	if err != nil {
		return Installed{}, err
	}
	var i Installed
	if err := json.Unmarshal(text, &i); err != nil {
		return Installed{}, fmt.Errorf("%s: %w: remove the folder and install the plugin again", filepath.Join(root, manifestName), err)
	}
	if i.Name == "" || !filepath.IsLocal(filepath.FromSlash(i.LibraryPath)) {
		return Installed{}, fmt.Errorf("%s: not a plugin's: remove the folder", filepath.Join(root, manifestName))
	}
	i.Root = root
	return i, nil
}

// writeManifest replaces the manifest of i in one step.
func writeManifest(i Installed) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(i.Root, manifestName), append(text, '\n'))
}

// entryPoint is the one function that a PJRT plugin exports.
const entryPoint = "GetPjrtApi"

// Inspect returns why the file at path is no PJRT plugin for a platform, or nil,
// without loading it.
func Inspect(path string, p Platform) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file")
	case err != nil:
		return reason(err)
	case !info.Mode().IsRegular():
		return errors.New("not a file")
	case p.OS != "linux":
		return fmt.Errorf("plugins are Linux libraries, this is %s", p)
	}
	f, err := elf.Open(path)
	if err != nil {
		if magic := make([]byte, 4); readStart(path, magic) && string(magic) == elf.ELFMAG {
			return fmt.Errorf("damaged or cut short: only the beginning of a library (%d bytes)", info.Size())
		}
		return errors.New("not a shared library (no ELF header)")
	}
	defer f.Close()
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	switch {
	case f.Type != elf.ET_DYN:
		return errors.New("not a shared library")
	case f.Machine != machines[p.Arch]:
		return fmt.Errorf("a library for %s, this is %s", f.Machine, p)
	}
	for _, prog := range f.Progs {
		if prog.Type == elf.PT_LOAD && prog.Off+prog.Filesz > uint64(info.Size()) {
			return fmt.Errorf("cut short: it has %d bytes and should have at least %d", info.Size(), prog.Off+prog.Filesz)
		}
	}
	symbols, err := f.DynamicSymbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil // without a section table only the loader can tell
	}
	if err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == entryPoint && s.Section != elf.SHN_UNDEF }) {
		return fmt.Errorf("a library, but no PJRT plugin: it does not export %s", entryPoint)
	}
	return nil
}

func readStart(path string, b []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.ReadFull(f, b)
	return err == nil
}
