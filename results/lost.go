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
	for n := 1; ; n++ {
		name := rescued(path, n)
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

// rescued is the n-th name for the rows of a file: rows.rescued.csv,
// rows.rescued-2.csv.
func rescued(path string, n int) string {
	ext := filepath.Ext(path)
	word := ".rescued"
	if n > 1 {
		word = fmt.Sprintf("%s-%d", word, n)
	}
	return strings.TrimSuffix(path, ext) + word + ext
}

// keepCut copies what follows the last closed round to a file of its own, under the
// same header, and returns its name.
func (j *Journal) keepCut(size int64) (string, error) {
	var f *os.File
	var err error
	for n := 1; f == nil; n++ {
		name := j.path + ".dropped" // no .csv: nobody looks for results there
		if n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
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
