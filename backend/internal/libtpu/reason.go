// Package libtpu reads what the TPU's compiler says of programs that it does not
// compile, so that a caller can decide on it: too big, unsupported, or wrong. It
// is the same compiler ahead of time (package aot) as on a chip (package pjrt).
package libtpu

import (
	"regexp"
	"strconv"
	"strings"

	"matladder/backend"
)

// The ways in which libtpu says that something does not fit. The first is of what
// a kernel may take of VMEM, the second of a whole memory; of the third it only
// tells plain bytes. The last is of main memory, arguments and results included.
var (
	scopedPattern     = regexp.MustCompile(`Scoped allocation with size ([0-9.]+)([KMG]?) and limit ([0-9.]+)([KMG]?) exceeded`)
	capacityPattern   = regexp.MustCompile(`Ran out of memory in memory space (\w+)\. Used ([0-9.]+)([KMG]?) of ([0-9.]+)([KMG]?)`)
	allocationPattern = regexp.MustCompile(`Allocation \(size=([0-9]+)\) would exceed memory \(size=([0-9]+)\)`)
	mainPattern       = regexp.MustCompile(`Ran out of memory on (\w+), the total memory required [^()]*\(([0-9.]+)([KMG]?)\) exceeds available \w+ \(([0-9.]+)([KMG]?)\)`)
)

// unsupportedPattern is how libtpu says that a generation, or it itself, lacks
// something; E2001 to E2003 are its codes for a dtype of a product, for a block that
// breaks the tiling and for a slice that may.
var unsupportedPattern = regexp.MustCompile(`E200[123]|[Uu]nsupported|[Nn]ot (yet )?supported|NYI|[Nn]ot implemented|Bad (lhs|rhs)|Expected matmul acc|Invalid vector type`)

// Name is what the compiler is called.
const Name = "libtpu"

// CompileError is a program that a compiler takes for wrong.
type CompileError struct {
	Compiler string // its name
	Code     int    // of PJRT
	Reason   string // one line
}

func (e *CompileError) Error() string { return e.Compiler + ": " + e.Reason }

// Classify turns an error of libtpu into one that a caller can decide on: errors.As finds
// *backend.TooBigError, errors.Is backend.ErrUnsupported; all else is a *CompileError.
func Classify(code int, message string) error {
	reason := oneLine(message)
	if m := scopedPattern.FindStringSubmatch(message); m != nil {
		return &TooBigError{backend.TooBigError{What: "VMEM", Needed: bytesOf(m[1], m[2]), Limit: bytesOf(m[3], m[4])}, Name, reason}
	}
	for _, p := range []*regexp.Regexp{capacityPattern, mainPattern} {
		if m := p.FindStringSubmatch(message); m != nil {
			return &TooBigError{backend.TooBigError{What: strings.ToUpper(m[1]), Needed: bytesOf(m[2], m[3]), Limit: bytesOf(m[4], m[5])}, Name, reason}
		}
	}
	if m := allocationPattern.FindStringSubmatch(message); m != nil {
		return &TooBigError{backend.TooBigError{What: "VMEM", Needed: bytesOf(m[1], ""), Limit: bytesOf(m[2], "")}, Name, reason}
	}
	if unsupportedPattern.MatchString(message) && !strings.Contains(message, "Failed to parse") {
		return &UnsupportedError{Name, reason}
	}
	return &CompileError{Name, code, reason}
}

// UnsupportedError is backend.ErrUnsupported in a compiler's own words.
type UnsupportedError struct{ Compiler, Reason string }

func (e *UnsupportedError) Error() string {
	return backend.ErrUnsupported.Error() + ": " + e.Compiler + ": " + e.Reason
}
func (e *UnsupportedError) Unwrap() error { return backend.ErrUnsupported }

// TooBigError is a backend.TooBigError in a compiler's own words.
type TooBigError struct {
	backend.TooBigError
	Compiler, Reason string
}

func (e *TooBigError) Error() string {
	return e.TooBigError.Error() + ": " + e.Compiler + ": " + e.Reason
}
func (e *TooBigError) Unwrap() error { return &e.TooBigError }

// bytesOf reads a number with a unit; libtpu rounds it to two digits.
func bytesOf(number, unit string) int64 {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}[unit]
	return int64(x * float64(int64(1)<<shift))
}

// prefixPattern is what libtpu says before the reason.
var prefixPattern = regexp.MustCompile("^(Mosaic failed to compile TPU kernel( with MLIR module name `[^`]*` HLO name `[^`]*`)?: |XLA:TPU compile permanent error. )")

// longest is how much of a reason is kept.
const longest = 300

// oneLine keeps what a message says and drops where and how to read more.
func oneLine(message string) string {
	for _, end := range []string{"\nSee https", "\nat location", "\n\nat location", "\nThe MLIR operation", "\n\n"} {
		message, _, _ = strings.Cut(message, end)
	}
	message = strings.Join(strings.Fields(message), " ")
	message = prefixPattern.ReplaceAllString(message, "")
	if len(message) > longest {
		message = message[:longest] + " …"
	}
	return message
}
