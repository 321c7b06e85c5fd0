package results

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Limits of a file, for reading and writing alike. They are far above what a
// sweep needs and bound what a hostile file can cost. A row of maxColumns
// texts of maxCell bytes, every one a quote to be doubled, still fits maxRow.
const (
	maxColumns = 128
	maxRow     = 2 << 20 // bytes
)

// A Writer writes a results file: a header, then rows at full precision.
// For a file that grows while a sweep runs see Journal.
type Writer struct {
	w   io.Writer
	enc encoder
}

// NewWriter writes the header to w. The columns named in extra follow the
// known ones and are filled from Record.Extra.
func NewWriter(w io.Writer, extra ...string) (*Writer, error) {
	enc, err := newEncoder(extra)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(enc.header()); err != nil {
		return nil, fmt.Errorf("results: write the header: %w", err)
	}
	return &Writer{w, enc}, nil
}

// Write appends one row. A row that breaks a rule of the format, or has Extra
// outside the header, is refused with a *SyntaxError and nothing is written.
func (w *Writer) Write(r *Record) error {
	row, err := w.enc.row(r)
	if err != nil {
		return err
	}
	if _, err := w.w.Write(row); err != nil {
		return fmt.Errorf("results: write a row: %w", err)
	}
	return nil
}

// Write writes a whole file: rows under a header that has every Extra column
// found in them, sorted by name.
func Write(w io.Writer, rows []Record) error {
	names := map[string]bool{}
	for i := range rows {
		for name := range rows[i].Extra {
			names[name] = true
		}
	}
	out, err := NewWriter(w, slices.Sorted(maps.Keys(names))...)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// An encoder turns records into lines of text; the slices it returns are
// overwritten by the next call.
type encoder struct {
	extra []string
	buf   *bytes.Buffer
	csv   *csv.Writer
	cells []string
}

func newEncoder(extra []string) (encoder, error) {
	names := slices.Concat(Columns, extra)
	if err := checkHeader(names); err != nil {
		return encoder{}, fmt.Errorf("results: write the header: %w", err)
	}
	buf := new(bytes.Buffer)
	return encoder{extra: extra, buf: buf, csv: csv.NewWriter(buf)}, nil
}

func (e *encoder) header() []byte {
	e.cells = append(append(e.cells[:0], Columns...), e.extra...)
	return e.line()
}

func (e *encoder) row(r *Record) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	for name := range r.Extra {
		if !slices.Contains(e.extra, name) {
			return nil, &SyntaxError{Column: name, Msg: "no such column in the header being written"}
		}
	}
	e.cells = e.cells[:0]
	for _, c := range columns {
		e.cells = append(e.cells, c.cell(r))
	}
	for _, name := range e.extra {
		e.cells = append(e.cells, Clean(r.Extra[name]))
	}
	return e.line(), nil
}

// line encodes e.cells. Writing to a buffer cannot fail.
func (e *encoder) line() []byte {
	e.buf.Reset()
	e.csv.Write(e.cells)
	e.csv.Flush()
	return e.buf.Bytes()
}

// checkHeader reports what makes names useless as a header. Known columns count
// whether they are there or not: what is read can be written, with all of them.
func checkHeader(names []string) error {
	if len(names) > maxColumns {
		return fmt.Errorf("%d columns, more than %d", len(names), maxColumns)
	}
	lacks := len(without(Columns, names))
	if len(names)+lacks > maxColumns {
		return fmt.Errorf("%d columns and %d of the format that it lacks, together more than %d", len(names), lacks, maxColumns)
	}
	seen := map[string]bool{}
	for i, name := range names {
		switch {
		case name == "":
			return fmt.Errorf("column %d has no name", i+1)
		case name != Clean(name):
			return fmt.Errorf("column %d has control characters in its name", i+1)
		case seen[name]:
			return fmt.Errorf("column %q appears twice", short(name))
		}
		seen[name] = true
	}
	return nil
}
