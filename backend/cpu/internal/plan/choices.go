package plan

import "matladder/backend/cpu/internal/gemm"

// Choices are decisions of the passes that are asked for, in place of rules that were
// found by measuring on some machines. Where one makes no sense the rule stands.
type Choices struct {
	gemm.Choices
	ReadA  ReadA
	WriteC WriteC
}

// ReadA is how an a is read whose rows tiles could read as they lie.
type ReadA uint8

const (
	ReadAByRule ReadA = iota
	ReadAPacked
	ReadARows
)

// WriteC is how tiles write an output that is written once.
type WriteC uint8

const (
	WriteByRule      WriteC = iota
	WriteCached             // each register tile where it belongs
	WriteCopied             // to where its rows follow each other, and from there beside the next products
	WriteNonTemporal        // so too, by non-temporal stores
)
