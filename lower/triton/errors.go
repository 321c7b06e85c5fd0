package triton

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// UnsupportedError is the answer to a program that has no Triton text, or none
// that a generation has the instructions for.
type UnsupportedError struct {
	Pos     tile.Pos // of the kernel's statement
	Program string
	Op      string // the operation, or "block" of a ref
	Ref     string // "" where no ref is concerned
	Reason  string
}

func (e *UnsupportedError) Error() string {
	return mlir.Refusal("triton", e.Pos, e.Program, e.Op, e.Ref, e.Reason)
}

// TooBigError is the answer to a program whose blocks do not fit one
// multiprocessor.
type TooBigError struct {
	Program     string
	Target      string
	What        string // registers, shared memory
	Need, Limit int64  // bytes
}

func (e *TooBigError) Error() string {
	return fmt.Sprintf("triton: %s: one program needs %.1f KiB of %s, %s has %.1f KiB",
		e.Program, kibi(e.Need), e.What, e.Target, kibi(e.Limit))
}

func kibi(bytes int64) float64 { return float64(bytes) / (1 << 10) }
