package matladder

import (
	"errors"
	"fmt"

	"matladder/backend"
)

// ErrUnsupported is what errors wrap that name what a kernel or a backend cannot do.
var ErrUnsupported = backend.ErrUnsupported

// ErrClosed is the answer of a Program after Close.
var ErrClosed = backend.ErrClosed

// TooBigError is the answer to programs that do not fit memory.
type TooBigError = backend.TooBigError

// ArgumentError says which argument of a call is wrong, and how. Nothing was computed.
type ArgumentError struct {
	Name string // of the array, as the tile program has it: a, b, o, lengths
	Out  bool   // it is an output
	Msg  string
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("matladder: %s: %s", e.Name, e.Msg) }

// OptionError says which of the Options makes no sense, and why.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return fmt.Sprintf("matladder: option %s: %v", e.Option, e.Err) }

// Unwrap is Err.
func (e *OptionError) Unwrap() error { return e.Err }

func badOption(option, format string, args ...any) error {
	return &OptionError{option, fmt.Errorf(format, args...)}
}

// caught makes an error of a panic: what is handed to Compile may be a program that no
// builder made.
func caught(what string, err *error) {
	if r := recover(); r != nil {
		*err = errors.Join(fmt.Errorf("matladder: %s: %v", what, r), *err)
	}
}
