package triton

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

const maker = "triton"

// UnsupportedError is the answer to a program that has no Triton text, or none
// that a generation has the instructions for: Pos, Program, Op, Ref and Reason say what and why.
type UnsupportedError = mlir.UnsupportedError

func unsupported(pos tile.Pos, p *tile.Program, op, ref, format string, args ...any) error {
	return &UnsupportedError{Maker: maker, Pos: pos, Program: p.Name, Op: op, Ref: ref, Reason: fmt.Sprintf(format, args...)}
}

// TooBigError is the answer to a program whose blocks do not fit one
// multiprocessor.
type TooBigError struct {
	Program       string
	Target        string
	What          string // registers, shared memory
	Needed, Limit int64  // bytes
}

func (e *TooBigError) Error() string {
	return fmt.Sprintf("triton: %s: one program needs %.1f KiB of %s, %s has %.1f KiB",
		e.Program, kibi(e.Needed), e.What, e.Target, kibi(e.Limit))
}

func kibi(bytes int64) float64 { return float64(bytes) / (1 << 10) }
