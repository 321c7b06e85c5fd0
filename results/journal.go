package results

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"matladder/internal/each"
	"matladder/internal/files"
)

// A Journal is a results file that grows while a sweep runs. Append is its only step: the rows of
// one round are written at once and synced, and the last of them is marked, by quotes around its
// schema cell ("1" where the others have 1), as closing the round. CSV readers see no difference.
// Resume keeps what lies before the last mark and drops what follows it, so after a kill at any
// byte the file holds exactly the rounds whose Append was done writing: none lost once synced,
// none half, none twice.
//
// The header's first cell is quoted as well. A program that rewrites the file
// loses the marks, and Resume refuses such a file rather than guess.
//
// A Journal holds a lock on its file, is used by one goroutine, and must be closed.
type Journal struct {
	path string
	f    *os.File
	size int64 // where the next round goes, and the file ends
	enc  encoder
	seen keys  // of every row in the file
	err  error // what a failed Append left behind, if it could not be undone
}

// ErrLocked is wrapped when another run holds the file.
var ErrLocked = errors.New("another run is writing it")

// syncFile is a variable for the tests, which count syncs and cannot wait for
// a disk thousands of times.
var syncFile = (*os.File).Sync

// Repair says what Resume took out of a file.
type Repair struct {
	Rows  int    // whole rows of a round that was never closed
	Bytes int64  // everything after the last closed round, torn row included
	Kept  string // the file beside it where that lies now, if more than a torn row
}

// Create starts a journal at path, making its folder if need be, and writes
// the header. It refuses a file that exists (os.ErrExist). It fails here, before anything
// is measured, where the file cannot be written.
func Create(path string) (*Journal, error) {
	j, _, err := open(path, os.O_EXCL)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s exists: resume it or choose another name: %w", path, os.ErrExist)
	}
	if err != nil {
		return nil, err
	}
	if err := j.start(); err != nil {
		j.Close()
		os.Remove(path)
		return nil, err
	}
	return j, nil
}

// Resume opens the journal at path for appending and returns the rows of its
// closed rounds. Whatever follows the last of them is cut off and counted in
// Repair; if that is more than a torn row, it is copied to a file beside it before. A file that is absent, empty, or torn within its header starts
// fresh. A file that is not a journal of this version is refused unchanged, and so is any
// once ctx ends.
func Resume(ctx context.Context, path string) (*Journal, []Record, Repair, error) {
	j, size, err := open(path, 0)
	if err != nil {
		return nil, nil, Repair{}, err
	}
	rows, repair, err := j.recover(ctx, size)
	if err != nil {
		j.Close()
		return nil, nil, Repair{}, err
	}
	return j, rows, repair, nil
}

// Append writes the rows of one round and syncs the file. Either all of them
// are in the journal when it returns, or, with an error, none. It refuses a
// row whose (point, round, rep) is in the file already. A file that is not any more
// what the journal left there is a *LostError, and stays as it is.
func (j *Journal) Append(rows []Record) error {
	if j.err != nil || len(rows) == 0 {
		return j.err
	}
	var text []byte
	if err := j.Intact(); err != nil {
		return err
	}
	now := newKeys()
	now.seed = j.seen.seed
	for i := range rows {
		row, err := j.enc.row(&rows[i])
		if err != nil {
			return err
		}
		if i == len(rows)-1 {
			row = mark(row)
		}
		text = append(text, row...)
		_, before := j.seen.lines[j.seen.of(&rows[i])]
		if _, again := now.add(&rows[i]); before || again {
			return fmt.Errorf("%s: %s %s round %d rep %d is in the file already",
				j.path, rows[i].Kernel, rows[i].Sizes(), rows[i].Round, rows[i].Rep)
		}
	}
	if err := j.write(text); err != nil {
		return err
	}
	maps.Copy(j.seen.lines, now.lines)
	return nil
}

// Close releases the file. What was appended is on disk already.
func (j *Journal) Close() error { return j.f.Close() }

// open opens and locks a regular file at path, empty if there was none.
func open(path string, flag int) (*Journal, int64, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, 0, fmt.Errorf("cannot make the folder of %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot write results: %w", err)
	}
	if err := files.TryLock(f); err != nil {
		f.Close()
		if errors.Is(err, files.ErrLocked) {
			err = ErrLocked
		}
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	enc, err := newEncoder(nil)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	j := &Journal{path: path, f: f, enc: enc, seen: newKeys()}
	return j, info.Size(), nil
}

// start makes the file an empty journal.
func (j *Journal) start() error {
	if err := j.f.Truncate(0); err != nil {
		return fmt.Errorf("cannot write results: %w", err)
	}
	j.size = 0
	if err := j.write(mark(j.enc.header())); err != nil {
		return err
	}
	return files.SyncFolder(filepath.Dir(j.path))
}

// recover reads the file, cuts it after the last closed round and returns the rows before that.
func (j *Journal) recover(ctx context.Context, size int64) ([]Record, Repair, error) {
	fresh, err := j.checkHeader(size)
	if err != nil {
		return nil, Repair{}, err
	}
	if fresh {
		return nil, Repair{Bytes: size}, j.start()
	}
	rd, err := NewReader(files.Until(ctx, io.NewSectionReader(j.f, 0, size)), j.path)
	if err != nil {
		return nil, Repair{}, err
	}
	j.size = int64(len(mark(j.enc.header())))
	var rows []Record
	var bad error // the first bad row since the last mark
	closed := 0
	for {
		row, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case errors.As(err, new(*TornError)):
			continue
		case errors.As(err, new(*SyntaxError)):
			bad = cmp.Or(bad, err)
			continue
		case err != nil:
			return nil, Repair{}, err
		case len(rows) == maxRows:
			return nil, Repair{}, fmt.Errorf("%s: more than %d rows", j.path, maxRows)
		}
		if first, again := j.seen.add(&row); again && bad == nil {
			bad = repeated(&row, first)
		}
		rows = append(rows, row)
		if !marked(rd.last.text) {
			continue
		}
		if bad != nil {
			return nil, Repair{}, fmt.Errorf("cannot resume: %w", bad)
		}
		closed, j.size = len(rows), rd.last.end
	}
	repair := Repair{Rows: len(rows) - closed, Bytes: size - j.size}
	rows, j.seen = rows[:closed], newKeys()
	for i := range rows {
		j.seen.add(&rows[i])
	}
	if repair.Bytes == 0 {
		return rows, repair, nil
	}
	if repair.Rows > 0 || bad != nil {
		if repair.Kept, err = j.keepCut(size); err != nil {
			return nil, Repair{}, fmt.Errorf("%s: rows of rounds that were not closed cannot be kept in a file of their own, and stay there: %w", j.path, err)
		}
	}
	if err := errors.Join(j.f.Truncate(j.size), syncFile(j.f)); err != nil {
		return nil, Repair{}, fmt.Errorf("%s: cut off a torn round: %w", j.path, err)
	}
	return rows, repair, nil
}

// checkHeader compares the file's header with this version's. fresh means
// that the file holds nothing but a beginning of it.
func (j *Journal) checkHeader(size int64) (fresh bool, err error) {
	want := mark(j.enc.header())
	have := make([]byte, min(size, int64(len(want))))
	if _, err := io.ReadFull(io.NewSectionReader(j.f, 0, size), have); err != nil {
		return false, fmt.Errorf("%s: %w", j.path, err)
	}
	switch {
	case bytes.Equal(have, want):
		return false, nil
	case bytes.HasPrefix(want, have):
		return true, nil
	}
	rd, err := NewReader(io.NewSectionReader(j.f, 0, size), j.path)
	if err != nil {
		return false, err
	}
	if diff := headerDiff(rd.Header()); diff != "" {
		return false, fmt.Errorf("%s:1: written by another version, its columns differ: %s; start a new file", j.path, diff)
	}
	return false, fmt.Errorf("%s:1: another program has rewritten this file, so its last round cannot be told whole from torn; start a new file", j.path)
}

func (j *Journal) write(text []byte) error {
	_, err := j.f.WriteAt(text, j.size)
	if err == nil {
		err = syncFile(j.f)
	}
	if err != nil {
		if in := (*os.PathError)(nil); errors.As(err, &in) {
			err = in.Err // it names the file again
		}
		err = fmt.Errorf("cannot append to %s: %w", j.path, err)
		if cut := j.f.Truncate(j.size); cut != nil {
			j.err = err // the file ends in a torn round: only Resume can go on
		}
		return err
	}
	j.size += int64(len(text))
	return nil
}

// mark puts quotes around the first cell of an encoded line. That cell is
// "schema" or Schema, neither of which the encoder quotes.
func mark(row []byte) []byte {
	cell, rest, _ := bytes.Cut(row, []byte{','})
	return fmt.Appendf(nil, "\"%s\",%s", cell, rest)
}

func marked(row []byte) bool { return len(row) > 0 && row[0] == '"' }

// headerDiff says in words how header differs from Columns, "" if it does not.
func headerDiff(header []string) string {
	lacks := without(Columns, header)
	adds := without(header, Columns)
	switch {
	case len(lacks) > 0 && len(adds) > 0:
		return fmt.Sprintf("%v missing, %v unknown", lacks, adds)
	case len(lacks) > 0:
		return fmt.Sprintf("%v missing", lacks)
	case len(adds) > 0:
		return fmt.Sprintf("%v unknown", adds)
	}
	for i := range header {
		if header[i] != Columns[i] {
			return fmt.Sprintf("%s stands where %s does here", header[i], Columns[i])
		}
	}
	return ""
}

func without(list, drop []string) []string {
	return each.That(list, func(s string) bool { return !slices.Contains(drop, s) })
}
