// Package mlir holds what every MLIR text that this project prints has in common.
//
// Values, Conds and Indices turn expressions, conditions and index expressions of a tile
// program into operations. A lowering fills their fields with functions that write one
// operation each in its own dialects, and calls Write; what is constant is computed while the
// text is written. Calls writes the StableHLO program around kernels.
package mlir

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// Refused is what has no text, or none that a compiler takes, and why.
type Refused struct {
	Pos     tile.Pos // of the kernel's statement
	Program string
	Op      string // the operation, or "block" of a ref
	Ref     string // "" where no ref is concerned
	Reason  string
}

// Refuse is what to refuse; ref is "" where no ref is concerned.
func Refuse(pos tile.Pos, program, op, ref, reason string) Refused {
	return Refused{pos, program, op, ref, reason}
}

// By is what a lowering says of it.
func (r Refused) By(maker string) string {
	return Refusal(maker, r.Pos, r.Program, r.Op, r.Ref, r.Reason)
}

// Refusal is what the lowering maker says of a program that it has no text for, or none
// that a compiler takes: op is the operation, ref the array that it concerns, "" for none.
func Refusal(maker string, pos tile.Pos, program, op, ref, reason string) string {
	s := fmt.Sprintf("%s: %s: %s", maker, program, op)
	if pos.File != "" {
		s = fmt.Sprintf("%s: %s", pos, s)
	}
	if ref != "" {
		s += " of " + ref
	}
	return s + ": " + reason
}

// List writes what text says of each of some values, with commas.
func List[V any](vs []V, text func(V) string) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = text(v)
	}
	return strings.Join(parts, ", ")
}

// Symbol turns a name into one that a module, function or value may have.
func Symbol(name string) string {
	s := []byte(name)
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			s[i] = '_'
		}
	}
	if len(s) == 0 {
		return "_"
	}
	return string(s)
}
