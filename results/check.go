package results

import (
	"cmp"
	"fmt"
	"hash/maphash"
)

// A SyntaxError is one row, or a header, that breaks the rules of FORMAT.md.
type SyntaxError struct {
	File   string
	Line   int    // from 1; 0 if the row was never in a file
	Column string // "" when the row as a whole is at fault
	Msg    string
}

func (e *SyntaxError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	place = cmp.Or(place, "results")
	if e.Column == "" {
		return place + ": " + e.Msg
	}
	return fmt.Sprintf("%s: column %q: %s", place, e.Column, e.Msg)
}

// Check reports, as a *SyntaxError, the first value of r that no file may
// hold. Reading and writing apply it alike.
func (r *Record) Check() error {
	bad := func(column, format string, args ...any) error {
		return &SyntaxError{File: r.Pos.File, Line: r.Pos.Line, Column: column, Msg: fmt.Sprintf(format, args...)}
	}
	for _, c := range columns {
		if err := c.check(r); err != nil {
			return bad(c.name, "%v", err)
		}
	}
	if r.Schema != Schema {
		return bad("schema", "%q is not %s, the only version known here", short(r.Schema), Schema)
	}
	for _, text := range [...]struct{ column, value string }{
		{"kernel", r.Kernel}, {"mode", string(r.Mode)}, {"status", string(r.Status)}, {"dtype_a", r.DtypeA},
	} {
		if text.value == "" {
			return bad(text.column, "empty")
		}
	}
	if column, err := r.checkShape(); err != nil {
		return bad(column, "%v", err)
	}
	if _, err := r.Uses(); err != nil {
		return bad("layers", "%v", err)
	}
	if r.Status == OK {
		switch {
		case r.Launches < 1:
			return bad("launches", "an ok row has at least 1")
		case r.Mode == Predicted && r.Launches != 1:
			return bad("launches", "a predicted row has 1, not %d", r.Launches)
		case r.Seconds <= 0:
			return bad("seconds", "an ok row took more than 0")
		}
	}
	return nil
}

// limits are the most, and above zero the least, that a cell of a column may say:
// bounds of what machines can be, far beyond any of today's, so that a figure made
// of rows stays a number and a picture of it has an end. FORMAT.md names them.
var limits = map[string]struct{ least, most float64 }{
	"round": {most: maxRounds}, "rep": {most: maxRounds},
	"launches": {most: 1 << 40},
	"seconds":  {1e-15, 1e10}, "compile_seconds": {most: 1e10},
	"peak_flops": {1, 1e24}, "bandwidth": {1, 1e21},
	"err_over_bound": {errLeast, errMost}, "rel_err": {errLeast, errMost},
	"quant_rel_err": {errLeast, errMost}, "quant_max_err": {errLeast, errMost}, "quant_snr_db": {most: 1e5},
	"threads": {most: 1 << 20}, "devices": {most: 1 << 24},
	"bm": {most: 1 << 50}, "bk": {most: 1 << 50}, "bn": {most: 1 << 50},
}

// maxRounds is the number of the last round, and of the last repetition in one.
const maxRounds = 1 << 20

// What the error of an output can be: of float64 numbers over a bound above 1e-100.
const errLeast, errMost = 1e-150, 1e150

// limit reports a number that the column may not say. Zero is empty, or exact.
func (c column) limit(number float64) error {
	l, bounded := limits[c.name]
	if number < 0 {
		number = -number // of a signed column
	}
	switch {
	case !bounded || number == 0:
	case number > l.most:
		return fmt.Errorf("%v is more than %v, the most that makes sense", number, l.most)
	case number < l.least:
		return fmt.Errorf("%v is less than %v, the least that makes sense", number, l.least)
	}
	return nil
}

// keys are what must be unique among rows: (point, round, rep), as hashes, each with the
// line of the first row that has it. A collision among a million rows has a chance of
// about 1 in 40 million.
type keys struct {
	seed  maphash.Seed
	runs  bool // of each run by itself: files that were joined have those of several
	lines map[uint64]int32
}

func newKeys() keys { return keys{seed: maphash.MakeSeed(), lines: map[uint64]int32{}} }

func (k keys) of(r *Record) uint64 {
	run := ""
	if k.runs {
		run = r.RunID
	}
	return maphash.Comparable(k.seed, struct {
		run        string
		point      PointKey
		round, rep int
	}{run, r.Point(), r.Round, r.Rep})
}

// add takes a row up and returns the line of an earlier one of the same key, if there is one.
func (k keys) add(r *Record) (line int, again bool) {
	key := k.of(r)
	if line, again := k.lines[key]; again {
		return int(line), true
	}
	k.lines[key] = int32(r.Pos.Line)
	return 0, false
}

// repeated says that a row has the key of the one in line first.
func repeated(r *Record, first int) *SyntaxError {
	return &SyntaxError{r.Pos.File, r.Pos.Line, "rep", fmt.Sprintf("the same repetition as line %d: %s %s round %d rep %d", first, r.Kernel, r.Sizes(), r.Round, r.Rep)}
}
