package plugins

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The SHA-256 that are known are in wheels.sha256; here is what they decide.

// names are the wheels of a version whose SHA-256 is known, sorted: those for p, or all if
// p is zero.
func (w Wheel) names(version string, p Platform) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(w.SHA256)) {
		if n, ok := parseWheelName(name); ok && n.version == version && (p == Platform{} || n.runsOn(p)) {
			names = append(names, name)
		}
	}
	return names
}

// checkPinned returns an error unless the SHA-256 of some file of a version is known.
func (w Wheel) checkPinned(version string) error {
	if len(w.names(version, Platform{})) > 0 {
		return nil
	}
	var versions []string
	for name := range w.SHA256 {
		if n, ok := parseWheelName(name); ok && !slices.Contains(versions, n.version) {
			versions = append(versions, n.version)
		}
	}
	slices.SortFunc(versions, compareVersions)
	return fmt.Errorf("version %s of %s is not pinned: no SHA-256 of it is known here (only of %s); --unpinned takes what the index offers",
		version, w.Project, strings.Join(versions, ", "))
}

// checkKnown returns why no file of a version can be taken on this machine, whatever the
// index offers, or nil.
func (in *installer) checkKnown(w Wheel, version string) error {
	if in.Unpinned {
		return nil
	}
	if err := w.checkPinned(version); err != nil {
		return err
	}
	if len(w.names(version, in.Platform)) == 0 {
		return fmt.Errorf("%s %s has no wheel for %s (there are %s)", w.Project, version, in.Platform, strings.Join(w.names(version, Platform{}), ", "))
	}
	return nil
}

// pick chooses, from the files that the index offers, the one for this machine whose whole
// name is known, and gives it the known SHA-256, which the download must have. If there is
// none, Options.Unpinned takes another file of that version (choose), with the index's
// SHA-256. A known name with another SHA-256 is never taken.
func (in *installer) pick(w Wheel, version string, offered []indexFile) (indexFile, error) {
	names := w.names(version, in.Platform)
	var known *indexFile
	for _, f := range offered {
		sum := w.SHA256[f.Name]
		if !slices.Contains(names, f.Name) {
			continue
		}
		if f.SHA256 != "" && f.SHA256 != sum {
			return indexFile{}, fmt.Errorf("the index offers another %s than the one known here (SHA-256 %s, not %s); nothing was installed", f.Name, f.SHA256, sum)
		}
		f.SHA256, f.pinned = sum, true
		known = &f
	}
	if known != nil {
		return *known, nil
	}
	f, err := choose(w.Project, offered, version, in.Platform)
	switch {
	case !in.Unpinned && err == nil:
		return indexFile{}, fmt.Errorf("the index does not offer %s, but %s, of which no SHA-256 is known here; nothing was installed (--unpinned takes it)", strings.Join(names, " or "), f.Name)
	case !in.Unpinned:
		return indexFile{}, fmt.Errorf("the index does not offer %s: %w", strings.Join(names, " or "), err)
	case err != nil:
		return indexFile{}, err
	}
	in.Notice(fmt.Sprintf("%s is not pinned: only the index %s says that it is what it should be (SHA-256 %s)", f.Name, in.index.Redacted(), f.SHA256))
	return f, nil
}

// Vouched returns nil if each wheel that i was made of is known by its name and
// SHA-256, or i was asked for as unpinned, and else which wheel is not known.
func (i Installed) Vouched() error {
	p, err := Lookup(i.Name)
	switch {
	case err != nil:
		return err
	case i.Unpinned:
		return nil
	case len(i.Wheels) == 0:
		return errors.New("it does not say what it was made of: install it again")
	}
	for _, s := range i.Wheels {
		known := slices.ContainsFunc(p.Wheels, func(w Wheel) bool { return s.SHA256 != "" && w.SHA256[s.File] == s.SHA256 })
		if !known {
			return fmt.Errorf("it was made of %s (SHA-256 %s), which is not known here: install it again", s.File, s.SHA256)
		}
	}
	return nil
}

// Verify reads every file of i and returns which of them has another content than
// when it was unpacked, or nil. Installations older than the sums have only sizes.
func (i Installed) Verify() error {
	if err := i.Damage(); err != nil {
		return err
	}
	for _, f := range i.Files {
		if f.SHA256 == "" {
			continue
		}
		sum, err := sumFile(filepath.Join(i.Root, filepath.FromSlash(f.Path)))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, reason(err))
		}
		if sum != f.SHA256 {
			return fmt.Errorf("%s is not what was installed (its SHA-256 is %s, not %s): install it again", f.Path, sum, f.SHA256)
		}
	}
	return nil
}
