package pjrt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"matladder/backend"
)

// The error codes of PJRT that decide something here.
const (
	codeResourceExhausted = 8
	codeUnimplemented     = 12
	codeInternal          = 13
)

// mosaicUnsupported marks, in libtpu's internal errors, a program that the TPU's
// compiler has no implementation for.
const mosaicUnsupported = "E2001"

// pluginError is what a plugin answered.
type pluginError struct {
	What string // what it was asked for
	Code int
	Text string
	kind error
}

func (e *pluginError) Error() string { return fmt.Sprintf("pjrt: %s: %s", e.What, e.Text) }
func (e *pluginError) Unwrap() error { return e.kind }

// The binding turns an error into text; this is how it spells one.
var bindingError = regexp.MustCompile(`(?s)PJRT error \(code=(\d+)\): (.*)`)

// wrap makes an error of the binding a typed one; what says what was asked for.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	m := bindingError.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("pjrt: %s: %w", what, err)
	}
	code, _ := strconv.Atoi(m[1])
	e := &pluginError{What: what, Code: code, Text: oneLine(m[2])}
	switch {
	case code == codeResourceExhausted:
		e.kind = &backend.TooBigError{What: "device memory", Need: requested(m[2])}
	case code == codeUnimplemented, code == codeInternal && strings.Contains(m[2], mosaicUnsupported):
		e.kind = backend.ErrUnsupported
	}
	return e
}

// oneLine is the beginning of a message that may go on for pages.
func oneLine(s string) string {
	const most = 400
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}

var requestedBytes = regexp.MustCompile(`(?i)(?:allocate|allocating|requested)\D{0,20}?(\d+)\s*(?:bytes|b\b)`)

// requested is how many bytes a message says were asked for; 0 if it does not.
func requested(s string) int64 {
	if m := requestedBytes.FindStringSubmatch(s); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		return n
	}
	return 0
}
