package results

import "fmt"

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
	if place == "" {
		place = "results"
	}
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
