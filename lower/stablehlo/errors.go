package stablehlo

import (
	"matladder/lower/internal/mlir"
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
	return mlir.Refusal("stablehlo", e.Pos, e.Program, e.Op, e.Ref, e.Reason)
}
