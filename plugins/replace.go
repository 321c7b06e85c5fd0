package plugins

import (
	"os"
	"path/filepath"
	"strings"
)

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
