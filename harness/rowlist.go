package harness

import "matladder/results"

// pieceOfRows is how many rows lie in one piece of memory, about a megabyte.
const pieceOfRows = 1024

// A rowList is the rows of a file, in order. They lie in pieces of one size, to save memory:
// one slice of all would have room for up to a quarter more rows than it holds, and would
// exist twice whenever it grows.
type rowList struct {
	pieces [][]results.Record
	length int
}

func (l *rowList) add(rows []results.Record) {
	l.length += len(rows)
	for len(rows) > 0 {
		last := len(l.pieces) - 1
		if last < 0 || len(l.pieces[last]) == cap(l.pieces[last]) {
			l.pieces = append(l.pieces, make([]results.Record, 0, pieceOfRows))
			last++
		}
		p := l.pieces[last]
		n := min(len(rows), cap(p)-len(p))
		l.pieces[last], rows = append(p, rows[:n]...), rows[n:]
	}
}

// all returns every row in one slice, which is the only piece from then on.
func (l *rowList) all() []results.Record {
	if len(l.pieces) > 1 {
		joined := make([]results.Record, 0, l.length)
		for i, p := range l.pieces {
			joined = append(joined, p...)
			l.pieces[i] = nil
		}
		l.pieces = append(l.pieces[:0], joined)
	}
	if len(l.pieces) == 0 {
		return nil
	}
	return l.pieces[0]
}
