package pjrt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/libtpu"
)

// The error codes of PJRT that decide something here.
const (
	codeResourceExhausted = 8
	codeUnimplemented     = 12
)

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
	e, message := parse(what, err)
	switch {
	case err == nil:
		return nil
	case e == nil:
		return fmt.Errorf("pjrt: %s: %w", what, err)
	case e.Code == codeResourceExhausted:
		e.kind = &backend.TooBigError{What: "device memory", Needed: requested(message)}
	case e.Code == codeUnimplemented:
		e.kind = backend.ErrUnsupported
	}
	return e
}

// wrapTPU is wrap for a compilation by libtpu, which says more.
func wrapTPU(what string, err error) error {
	e, message := parse(what, err)
	if e == nil {
		return wrap(what, err)
	}
	return fmt.Errorf("pjrt: %s: %w", what, libtpu.Classify(e.Code, message))
}

// parse reads an error of the binding and the message in it; nil if there is none.
func parse(what string, err error) (*pluginError, string) {
	if err == nil {
		return nil, ""
	}
	m := bindingError.FindStringSubmatch(err.Error())
	if m == nil {
		return nil, ""
	}
	code, _ := strconv.Atoi(m[1])
	return &pluginError{What: what, Code: code, Text: oneLine(m[2])}, m[2]
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
