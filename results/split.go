package results

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
)

// A splitter cuts a file into rows before they are parsed. A row is one physical line, or several
// if a quoted cell holds line feeds: lines are joined until the number of quotes is even.
//
// It exists because encoding/csv alone would let one stray quote swallow the
// rest of a file. Here such a row is blamed on its first line (see reject) and
// the lines after it get a chance of their own. Memory is bounded by maxRow.
type splitter struct {
	br      *bufio.Reader
	pending []byte // lines to be cut again, before br is read on
	after   *line  // a line too long for pending that follows it
	line    int    // number of the next line
	offset  int64  // of the next line
}

// A line is a row, or a piece of one, with its place.
type line struct {
	text     []byte
	number   int
	offset   int64 // of its first byte
	end      int64 // offset past its last byte
	complete bool  // ends in a line feed
	long     bool  // more than maxRow bytes; text is only the start
}

// next returns the next row that is not blank, or io.EOF. open means that a
// quote is not closed by the end of the file or within maxRow bytes.
func (s *splitter) next() (row line, open bool, err error) {
	for {
		row, err = s.read()
		if err != nil {
			return row, false, err
		}
		if len(bytes.TrimRight(row.text, "\r\n")) > 0 || row.long {
			break
		}
	}
	if row.long || !row.complete {
		return row, false, nil
	}
	for inside := odd(row.text); inside; {
		more, err := s.read()
		if errors.Is(err, io.EOF) {
			return row, true, nil
		}
		if err != nil {
			return row, false, err
		}
		if more.long || len(row.text)+len(more.text) > maxRow {
			s.unread(more)
			return row, true, nil
		}
		row.text = append(row.text, more.text...)
		inside = inside != odd(more.text) // counting all of row.text anew takes the square of its length
		row.end, row.complete = more.end, more.complete
		if !row.complete {
			return row, true, nil
		}
	}
	return row, false, nil
}

// reject gives back all lines of row but the first, which it returns.
func (s *splitter) reject(row line) line {
	first := bytes.IndexByte(row.text, '\n') + 1
	if first == 0 || first == len(row.text) {
		return row
	}
	s.unread(line{text: row.text[first:], number: row.number + 1, offset: row.offset + int64(first)})
	row.text, row.end, row.complete = row.text[:first], row.offset+int64(first), true
	return row
}

// unread puts l in front of what is still to be read.
func (s *splitter) unread(l line) {
	if l.long {
		s.after = &l
	} else {
		s.pending = append(bytes.Clone(l.text), s.pending...)
	}
	s.line, s.offset = l.number, l.offset
}

// read returns the next physical line.
func (s *splitter) read() (line, error) {
	l := line{number: s.line, offset: s.offset}
	switch {
	case len(s.pending) > 0:
		n := bytes.IndexByte(s.pending, '\n') + 1
		l.complete = n > 0
		n = cmp.Or(n, len(s.pending))
		l.text = bytes.Clone(s.pending[:n])
		l.end = l.offset + int64(n)
		s.pending = s.pending[n:]
	case s.after != nil:
		l, s.after = *s.after, nil
	default:
		if err := s.fill(&l); err != nil {
			return l, err
		}
	}
	s.line, s.offset = l.number+1, l.end
	return l, nil
}

// fill reads l from the file, keeping at most maxRow bytes of it.
func (s *splitter) fill(l *line) error {
	l.end = l.offset
	for {
		piece, err := s.br.ReadSlice('\n')
		l.end += int64(len(piece))
		if room := maxRow - len(l.text); len(piece) > room {
			l.long = true
			piece = piece[:room]
		}
		l.text = append(l.text, piece...)
		switch {
		case l.long && l.number == 1: // a header that long: no need to look for its end
			return nil
		case err == nil:
			l.complete = true
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && l.end > l.offset:
			return nil
		default:
			return err
		}
	}
}

func odd(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }
