package mosaic

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// UnsupportedError is the answer to a program that has no Mosaic text, or none
// that a generation's compiler takes.
type UnsupportedError struct {
	Pos     tile.Pos // of the kernel's statement
	Program string
	Op      string // the operation, or "block" of a ref
	Ref     string // "" where no ref is concerned
	Reason  string
}

func (e *UnsupportedError) Error() string {
	return mlir.Refusal("mosaic", e.Pos, e.Program, e.Op, e.Ref, e.Reason)
}

// TooBigError is the answer to a program whose blocks and scratch do not fit a
// core's VMEM.
type TooBigError struct {
	Program     string
	Target      string
	Need, Limit int64 // bytes
}

func (e *TooBigError) Error() string {
	return fmt.Sprintf("mosaic: %s: needs %.2f MiB of VMEM for its blocks and scratch, %s has %.2f MiB",
		e.Program, mebi(e.Need), e.Target, mebi(e.Limit))
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }
