package plugins

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/internal/files"
)

// Platform is an operating system and an architecture, as Go names them.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// wheelName is a wheel's file name taken apart:
// project-version(-build)-python-abi-platform.whl, the last three being lists
// with dots (packaging.python.org, binary distribution format).
type wheelName struct {
	project   string // as normalProject spells it
	version   string
	python    string
	platforms []string
}

func parseWheelName(file string) (wheelName, bool) {
	stem, ok := strings.CutSuffix(file, ".whl")
	parts := strings.Split(stem, "-")
	if !ok || len(parts) != 5 && len(parts) != 6 {
		return wheelName{}, false
	}
	n := len(parts)
	return wheelName{normalProject(parts[0]), parts[1], parts[n-3] + "-" + parts[n-2], strings.Split(parts[n-1], ".")}, true
}

// normalProject spells a project's name as every other spelling of it
// (packaging.python.org, name normalization).
func normalProject(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) }), "-")
}

// sumText is a SHA-256 as it becomes part of a path.
var sumText = regexp.MustCompile(`^[0-9a-f]{64}$`)

// runsOn reports whether the wheel's libraries are for p.
func (w wheelName) runsOn(p Platform) bool {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.Arch]
	return arch != "" && p.OS == "linux" && slices.ContainsFunc(w.platforms, func(tag string) bool {
		linux := strings.HasPrefix(tag, "manylinux") || strings.HasPrefix(tag, "linux")
		return linux && strings.HasSuffix(tag, "_"+arch)
	})
}

// choose picks the file of a version for a platform. Wheels that differ in the
// Python they are for alone have the same library; the one for any Python is
// preferred, then the oldest, which later uploads do not change.
func choose(project string, files []indexFile, version string, p Platform) (indexFile, error) {
	var fits, ofVersion []indexFile
	var versions []string
	for _, f := range files {
		w, ok := parseWheelName(f.Name)
		if !ok || w.project != normalProject(project) {
			continue
		}
		versions = each.With(versions, w.version)
		if w.version != version {
			continue
		}
		ofVersion = append(ofVersion, f)
		if w.runsOn(p) {
			fits = append(fits, f)
		}
	}
	switch {
	case len(versions) == 0:
		return indexFile{}, fmt.Errorf("the index has no wheel of %s", project)
	case len(ofVersion) == 0:
		slices.SortFunc(versions, compareVersions)
		return indexFile{}, fmt.Errorf("the index has no version %s of %s (the latest are %s)",
			version, project, strings.Join(versions[max(0, len(versions)-6):], ", "))
	case len(fits) == 0:
		names := each.Of(ofVersion, func(f indexFile) string { return f.Name })
		return indexFile{}, fmt.Errorf("%s %s has no wheel for %s (there are %s)", project, version, p, strings.Join(names, ", "))
	}
	f := slices.MinFunc(fits, func(a, b indexFile) int {
		x, _ := parseWheelName(a.Name)
		y, _ := parseWheelName(b.Name)
		if any := "py3-none"; x.python != y.python && (x.python == any || y.python == any) {
			if x.python == any {
				return -1
			}
			return 1
		}
		return compareVersions(x.python, y.python)
	})
	if f.SHA256 == "" {
		return indexFile{}, fmt.Errorf("the index gives no SHA-256 for %s: use another index", f.Name)
	}
	if !sumText.MatchString(f.SHA256) {
		return indexFile{}, fmt.Errorf("the index gives no SHA-256 for %s, but %.100q: use another index", f.Name, f.SHA256)
	}
	return f, nil
}

// compareVersions orders 0.9 before 0.10: numbers by value, the rest as text.
func compareVersions(a, b string) int {
	x, y := numbersAndWords.FindAllString(a, -1), numbersAndWords.FindAllString(b, -1)
	for i := range min(len(x), len(y)) {
		m, errM := strconv.Atoi(x[i])
		n, errN := strconv.Atoi(y[i])
		switch {
		case errM == nil && errN == nil && m != n:
			return m - n
		case (errM != nil || errN != nil) && x[i] != y[i]:
			return strings.Compare(x[i], y[i])
		}
	}
	return len(x) - len(y)
}

// numbersAndWords are what a version is cut into where digits begin or end.
var numbersAndWords = regexp.MustCompile(`\d+|\D+`)

// keeps reports whether a file of the wheel is unpacked: what Keep names, by its
// whole path or its last element, and licences.
func (w Wheel) keeps(name string) bool {
	base := path.Base(name)
	for _, pattern := range w.Keep {
		subject := base
		if strings.Contains(pattern, "/") {
			subject = name
		}
		if ok, _ := path.Match(pattern, subject); ok {
			return true
		}
	}
	licences := []string{"LICENSE", "LICENCE", "NOTICE", "COPYING", "EULA"}
	return slices.ContainsFunc(licences, func(word string) bool { return strings.Contains(strings.ToUpper(base), word) })
}

// maxUnpacked bounds what one wheel may unpack to.
const maxUnpacked = 4 << 30

// extract unpacks what w keeps of the wheel at path into dir, and returns the files.
func (in *installer) extract(ctx context.Context, w Wheel, path, name, dir string) ([]File, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a wheel: %w", name, err)
	}
	defer archive.Close()
	var kept []*zip.File
	var size uint64
	for _, f := range archive.File {
		if !f.Mode().IsRegular() || !w.keeps(f.Name) {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return nil, fmt.Errorf("%s: %q lies outside the wheel", name, f.Name)
		}
		kept = append(kept, f)
		size += f.UncompressedSize64
	}
	if size > maxUnpacked {
		return nil, fmt.Errorf("%s: it unpacks to %d bytes, over the limit of %d", name, size, int64(maxUnpacked))
	}
	if err := in.room(int64(size)); err != nil {
		return nil, err
	}
	var list []File
	for _, f := range kept {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, err := in.extractFile(ctx, f, filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil {
			return nil, fmt.Errorf("%s: unpack %s: %w", name, f.Name, err)
		}
		list = append(list, File{f.Name, int64(f.UncompressedSize64), sum})
	}
	return list, nil
}

// extractFile unpacks one file and returns its SHA-256.
func (in *installer) extractFile(ctx context.Context, f *zip.File, to string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", in.writeError(err, 0)
	}
	from, err := f.Open()
	if err != nil {
		return "", err
	}
	defer from.Close()
	out, err := in.open(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", in.writeError(err, 0)
	}
	defer out.Close()
	sum := sha256.New()
	w := writer{in, out, int64(f.UncompressedSize64)}
	// One byte more than announced shows a size that lies.
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(files.Until(ctx, from), int64(f.UncompressedSize64)+1))
	if err != nil {
		return "", err // zip's own, or that of the checksum
	}
	if n != int64(f.UncompressedSize64) {
		return "", fmt.Errorf("it has not the %d bytes that it announces", f.UncompressedSize64)
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return "", in.writeError(err, 0)
	}
	mode := os.FileMode(0o644)
	if f.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return hex.EncodeToString(sum.Sum(nil)), os.Chmod(to, mode)
}

// writer explains what keeps a write from succeeding.
type writer struct {
	*installer
	file
	need int64
}

func (w writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	if err != nil {
		err = w.writeError(err, w.need)
	}
	return n, err
}
