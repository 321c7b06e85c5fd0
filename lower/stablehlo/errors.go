package stablehlo

import (
	"fmt"

	"matladder/tile"
)

// UnsupportedError is the answer to a program or problem that has no StableHLO.
type UnsupportedError struct {
	Pos     tile.Pos // of the kernel's statement; zero for a baseline
	Program string
	Op      string
	Ref     string // "" where no ref is concerned
	Reason  string
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("stablehlo: %s: %s", e.Program, e.Op)
	if e.Pos.File != "" {
		s = fmt.Sprintf("%s: %s", e.Pos, s)
	}
	if e.Ref != "" {
		s += " of " + e.Ref
	}
	return s + ": " + e.Reason
}
