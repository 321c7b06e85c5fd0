package results

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"matladder/internal/words"
)

// A Reader reads a results file row by row. Columns are mapped by name, in
// any order; unknown ones go to Record.Extra, absent optional ones stay empty.
type Reader struct {
	split  *splitter
	name   string
	header []string
	known  []*column // by position in the header; nil if unknown
	parse  *csv.Reader
	feed   feeder
	intern map[string]string
	last   line // the row Next returned
}

// A TornError is a last row that was cut off while being written. The rows before it are whole.
type TornError struct {
	File  string
	Line  int
	Bytes int64 // from the start of the row to the end of the file
}

func (e *TornError) Error() string {
	return fmt.Sprintf("%s:%d: the last row is torn (%s dropped)", e.File, e.Line, words.Count(e.Bytes, "byte"))
}

// NewReader reads the header from r; name stands in errors. It refuses, with a
// *SyntaxError, a file that lacks a required column.
func NewReader(r io.Reader, name string) (*Reader, error) {
	rd := &Reader{split: &splitter{br: bufio.NewReaderSize(r, 64<<10), line: 1}, name: name, intern: map[string]string{}}
	rd.parse = rd.newParser()
	row, open, err := rd.split.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, rd.bad(line{number: 1}, "", "the file is empty")
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case open || row.long || !row.complete:
		return nil, rd.bad(row, "", "not a results file: the header is not a whole line")
	}
	row.text = []byte(strings.TrimPrefix(string(row.text), "\ufeff")) // as Excel saves
	cells, err := rd.cells(row)
	if err != nil {
		return nil, rd.bad(row, "", "not a results file: the header is not CSV")
	}
	rd.header = slices.Clone(cells)
	rd.known = make([]*column, len(rd.header))
	var missing []string
	for i := range columns {
		c := &columns[i]
		if at := slices.Index(rd.header, c.name); at >= 0 {
			rd.known[at] = c
		} else if c.required {
			missing = append(missing, c.name+respelled(rd.header, c.name))
		}
	}
	if missing != nil {
		return nil, rd.bad(row, "", "not a results file: missing %s %s", words.Plural("column", len(missing)), strings.Join(missing, ", "))
	}
	if err := checkHeader(rd.header); err != nil {
		return nil, rd.bad(row, "", "not a results file: %v", err)
	}
	return rd, nil
}

// respelled tells, in brackets, where a header has a column's name with spaces or capitals;
// "" if it has not.
func respelled(header []string, name string) string {
	for i, have := range header {
		if plain := strings.Join(strings.Fields(strings.ToLower(have)), "_"); plain == name {
			return fmt.Sprintf(" (column %d is %q: write %s)", i+1, short(have), name)
		}
	}
	return ""
}

// Header returns the columns as they stand in the file.
func (rd *Reader) Header() []string { return rd.header }

// Next returns the next row. A *SyntaxError concerns one row: reading may go
// on. A *TornError is the last thing before io.EOF. Any other error is final.
func (rd *Reader) Next() (Record, error) {
	row, open, err := rd.split.next()
	if errors.Is(err, io.EOF) {
		return Record{}, io.EOF
	}
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", rd.name, err)
	}
	rd.last = row
	if row.long {
		return Record{}, rd.bad(row, "", "longer than %d bytes", maxRow)
	}
	if open {
		if rd.atEnd() && !rd.hidesRow(row) {
			return Record{}, &TornError{rd.name, row.number, row.end - row.offset}
		}
		rd.last = rd.split.reject(row)
		return Record{}, rd.bad(row, "", "a quote is never closed")
	}
	if !row.complete {
		return Record{}, &TornError{rd.name, row.number, row.end - row.offset}
	}
	cells, err := rd.cells(row)
	if err == nil && len(cells) != len(rd.header) {
		err = fmt.Errorf("%d cells under a header of %d", len(cells), len(rd.header))
	}
	if err != nil {
		rd.last = rd.split.reject(row)
		return Record{}, rd.bad(row, "", "%v", err)
	}
	return rd.record(row, cells)
}

func (rd *Reader) record(row line, cells []string) (Record, error) {
	r := Record{Batch: 1, Pos: Pos{rd.name, row.number}}
	for i, cell := range cells {
		c := rd.known[i]
		cell = Clean(cell)
		if c == nil || c.text {
			cell = rd.keep(cell)
		}
		switch {
		case c != nil:
			if err := c.set(&r, cell); err != nil {
				return Record{}, rd.bad(row, c.name, "%v", err)
			}
		case cell != "":
			if r.Extra == nil {
				r.Extra = map[string]string{}
			}
			r.Extra[rd.header[i]] = cell
		}
	}
	if err := r.Check(); err != nil {
		return Record{}, err
	}
	return r, nil
}

// atEnd reports whether nothing follows the row just cut.
func (rd *Reader) atEnd() bool {
	if len(rd.split.pending) > 0 || rd.split.after != nil {
		return false
	}
	_, err := rd.split.br.Peek(1)
	return err != nil
}

// hidesRow tells a stray quote from a torn row: after a stray one whole rows
// follow, which joined the row only because of it.
func (rd *Reader) hidesRow(row line) bool {
	lines := strings.SplitAfter(string(row.text), "\n")
	for _, text := range lines[1:] {
		if !strings.HasSuffix(text, "\n") || odd([]byte(text)) {
			continue
		}
		if cells, err := rd.cells(line{text: []byte(text)}); err == nil && len(cells) == len(rd.header) {
			return true
		}
	}
	return false
}

// cells parses one row. The parser is fed one row at a time, so that an error
// cannot reach into the next; the slice is valid until the next call.
func (rd *Reader) cells(row line) ([]string, error) {
	rd.feed.text = row.text
	cells, err := rd.parse.Read()
	if err != nil || len(rd.feed.text) > 0 {
		rd.parse = rd.newParser() // it may hold the rest of a bad row
	}
	if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
		err = syntax.Err // its line number counts from the row
	}
	return cells, err
}

func (rd *Reader) newParser() *csv.Reader {
	p := csv.NewReader(&rd.feed)
	p.FieldsPerRecord = -1
	p.ReuseRecord = true
	return p
}

// A feeder hands its text to a csv.Reader.
type feeder struct{ text []byte }

func (f *feeder) Read(p []byte) (int, error) {
	if len(f.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// keep returns a copy of cell that does not hold on to its row, the same one
// for equal cells: host, device and dtypes repeat in every row.
func (rd *Reader) keep(cell string) string {
	if kept, ok := rd.intern[cell]; ok {
		return kept
	}
	cell = strings.Clone(cell)
	if len(rd.intern) < 4096 {
		rd.intern[cell] = cell
	}
	return cell
}

func (rd *Reader) bad(row line, column, format string, args ...any) error {
	return &SyntaxError{File: rd.name, Line: row.number, Column: column, Msg: fmt.Sprintf(format, args...)}
}
