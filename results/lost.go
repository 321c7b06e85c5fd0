package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"matladder/internal/files"
)

// A LostError says that the file of a journal is not what the journal left there:
// somebody removed, replaced, cut or wrote it. What was appended may be gone from it.
type LostError struct {
	Path string
	What string // has become of it
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s %s while it was written", e.Path, e.What)
}

// Intact returns a *LostError unless the journal's path still leads to its file, and
// that ends where the last round did.
func (j *Journal) Intact() error {
	if j.err != nil {
		return nil // it ends in a torn round, which was told
	}
	at, err := os.Stat(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &LostError{j.path, "was removed or renamed"}
	}
	if err != nil {
		return &LostError{j.path, fmt.Sprintf("cannot be looked at (%v)", err)}
	}
	mine, err := j.f.Stat()
	switch {
	case err != nil:
		return &LostError{j.path, fmt.Sprintf("cannot be looked at (%v)", err)}
	case !os.SameFile(at, mine):
		return &LostError{j.path, "was replaced by another file"}
	case mine.Size() < j.size:
		return &LostError{j.path, fmt.Sprintf("was cut from %d bytes to %d", j.size, mine.Size())}
	case mine.Size() > j.size:
		return &LostError{j.path, fmt.Sprintf("was written by another program, %d bytes behind its last round,", mine.Size()-j.size)}
	}
	return nil
}

// Rescue writes rows as a journal of its own beside the file path, under a name that
// is free, and returns that name.
func Rescue(path string, rows []Record) (string, error) {
	ext := filepath.Ext(path)
	for n := 1; ; n++ {
		name := numbered(strings.TrimSuffix(path, ext)+".rescued", ext, n)
		j, err := Create(name)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(j.Append(rows), j.Close()); err != nil {
			os.Remove(name)
			return "", err
		}
		return name, nil
	}
}

// numbered is the n-th name of a kind beside a file: rows.rescued.csv, rows.rescued-2.csv.
func numbered(stem, ext string, n int) string {
	if n > 1 {
		stem = fmt.Sprintf("%s-%d", stem, n)
	}
	return stem + ext
}

// keepCut copies what follows the last closed round to a file of its own, under the
// same header, and returns its name.
func (j *Journal) keepCut(size int64) (string, error) {
	var f *os.File
	var err error
	for n := 1; f == nil; n++ {
		// No .csv: nobody looks for results there.
		f, err = os.OpenFile(numbered(j.path+".dropped", "", n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
	_, err = f.Write(j.enc.header())
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(j.f, j.size, size-j.size))
	}
	if err == nil {
		err = syncFile(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), files.SyncFolder(filepath.Dir(j.path))
}
