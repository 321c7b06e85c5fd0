package mosaic

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

const maker = "mosaic"

// UnsupportedError is the answer to a program that has no Mosaic text, or none
// that a generation's compiler takes: Pos, Program, Op, Ref and Reason say what and why.
type UnsupportedError = mlir.UnsupportedError

func unsupported(pos tile.Pos, p *tile.Program, op, ref, format string, args ...any) error {
	return &UnsupportedError{Maker: maker, Pos: pos, Program: p.Name, Op: op, Ref: ref, Reason: fmt.Sprintf(format, args...)}
}

// TooBigError is the answer to a program whose blocks and scratch do not fit a
// core's VMEM.
type TooBigError struct {
	Program       string
	Target        string
	Needed, Limit int64 // bytes
}

func (e *TooBigError) Error() string {
	return fmt.Sprintf("mosaic: %s: needs %.2f MiB of VMEM for its blocks and scratch, %s has %.2f MiB",
		e.Program, mebi(e.Needed), e.Target, mebi(e.Limit))
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }
