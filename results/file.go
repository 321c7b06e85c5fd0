package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/files"
)

// Limits of what Read keeps in memory; a Reader has no such limits.
const (
	maxRows = 1 << 20
	maxBad  = 10 // one mistake is often in every row
)

// A File is what Read made of one results file.
type File struct {
	Name string
	Rows []Record
	Bad  []*SyntaxError // rows left out, at most maxBad of them
	More int            // rows left out beyond Bad
	Torn *TornError     // nil if the last row is whole
}

// Warnings returns what of the file is not in Rows, one line each.
func (f *File) Warnings() []error {
	var list []error
	for _, e := range f.Bad {
		list = append(list, e)
	}
	if f.More > 0 {
		list = append(list, fmt.Errorf("%s: %d more bad rows", f.Name, f.More))
	}
	if f.Torn != nil {
		list = append(list, f.Torn)
	}
	return list
}

// Read reads all rows from r; name stands in errors and in Record.Pos. Bad
// rows and a torn last one are left out of File.Rows and reported in File. The
// error is for a file that is no results file, or cannot be read at all.
func Read(r io.Reader, name string) (*File, error) {
	f := &File{}
	err := f.read(r, name, func(row *Record) error {
		if len(f.Rows) == maxRows {
			return fmt.Errorf("%s: more than %d rows; split the file", name, maxRows)
		}
		f.Rows = append(f.Rows, *row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// read hands every good row to keep and notes in f what is not good.
func (f *File) read(r io.Reader, name string, keep func(*Record) error) error {
	rd, err := NewReader(r, name)
	if err != nil {
		return err
	}
	f.Name = name
	seen := newKeys()
	seen.runs = true
	numbered := slices.Contains(rd.Header(), "round") && slices.Contains(rd.Header(), "rep")
	for {
		row, err := rd.Next()
		if err == nil && numbered {
			if first, again := seen.add(&row); again && !row.Condemns() {
				err = repeated(&row, first)
			}
		}
		var syntax *SyntaxError
		switch {
		case err == nil:
			if err := keep(&row); err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &f.Torn):
		case !errors.As(err, &syntax):
			return err
		case len(f.Bad) < maxBad:
			f.Bad = append(f.Bad, syntax)
		default:
			f.More++
		}
	}
}

// ReadRows hands the good rows of the file at path to keep, one at a time, and keeps none: a file
// of any length can be read. The File it returns has no rows, only what was wrong with others.
// The error is keep's, or that of ctx once it is canceled.
func ReadRows(ctx context.Context, path string, keep func(*Record) error) (*File, error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := &File{}
	if err := f.read(files.Until(ctx, in), path, keep); err != nil {
		return nil, err
	}
	return f, nil
}

// ReadFile reads the file at path.
func ReadFile(path string) (*File, error) { return ReadFileContext(context.Background(), path) }

// ReadFileContext is ReadFile until ctx ends, whose error it then wraps.
func ReadFileContext(ctx context.Context, path string) (*File, error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return Read(files.Until(ctx, in), path)
}

func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder, not a results file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Files returns every file that the patterns (paths or globs) match, each once,
// in the order of the patterns and sorted within one. A pattern that matches
// nothing is an error that wraps os.ErrNotExist.
func Files(patterns ...string) ([]string, error) {
	var paths []string
	for _, pattern := range patterns {
		matches := []string{pattern}
		if _, err := os.Lstat(pattern); err != nil {
			if matches, err = filepath.Glob(pattern); err != nil {
				return nil, fmt.Errorf("%s: neither a file nor a glob: a [ or \\ in it is never closed", pattern)
			}
		}
		if matches == nil {
			return nil, &noFileError{pattern}
		}
		for _, path := range matches {
			paths = each.With(paths, filepath.Clean(path))
		}
	}
	return paths, nil
}

// noFileError says that nothing matches a pattern.
type noFileError struct{ pattern string }

func (e *noFileError) Error() string { return e.pattern + ": no such results file" }
func (e *noFileError) Unwrap() error { return os.ErrNotExist }

// What lies beside a results file, and says whether its sweep has ended.

// NoteFile is where the note of a results file lies that says which sweep it is of.
func NoteFile(path string) string { return path + ".sweep" }

// The words of a note's State.
const (
	Begun = "begun" // an execution is at it, or was interrupted or killed
	Whole = "whole" // the last execution ended by itself
)

// MaxNote bounds the text of a note.
const MaxNote = 4 << 20

// Unfinished reports whether the note beside the results file at path says that its sweep
// has begun and not ended. Without one it is not known, and taken to have ended.
func Unfinished(path string) bool {
	text, err := files.ReadRegular(NoteFile(path), MaxNote)
	if err != nil {
		return false
	}
	var note struct{ State string }
	return json.Unmarshal(text, &note) == nil && note.State == Begun
}

// A LostError says that the file of a journal is not what the journal left there:
// somebody removed, replaced, cut or wrote it. What was appended may be gone from it.
type LostError struct {
	Path string
	What string // has become of it
}

func (e *LostError) Error() string { return fmt.Sprintf("%s %s while it was written", e.Path, e.What) }

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
