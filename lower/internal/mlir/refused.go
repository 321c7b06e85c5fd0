package mlir

import (
	"fmt"

	"matladder/tile"
)

// UnsupportedError is the answer of a lowering to what has no text, or none that a compiler
// takes.
type UnsupportedError struct {
	Maker   string   // the lowering
	Pos     tile.Pos // of the kernel's statement; zero where no kernel is concerned
	Program string
	Op      string // the operation, or "block" of a ref
	Ref     string // "" where no ref is concerned
	Reason  string
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.Maker, e.Program, e.Op)
	if e.Pos.File != "" {
		s = fmt.Sprintf("%s: %s", e.Pos, s)
	}
	if e.Ref != "" {
		s += " of " + e.Ref
	}
	return s + ": " + e.Reason
}

// Refused is what is being written, and the first thing that has no text.
type Refused struct {
	Maker, Program string
	Pos            tile.Pos // of what is being written
	Err            error    // an *UnsupportedError
}

// Refuse remembers the first thing that has no text; ref is "" where no ref is concerned.
func (r *Refused) Refuse(op, ref, reason string) {
	if r.Err == nil {
		r.Err = &UnsupportedError{r.Maker, r.Pos, r.Program, op, ref, reason}
	}
}
