//go:build !linux

package counters

import (
	"errors"
	"fmt"
)

// A Reader takes readings.
type Reader struct{}

// New finds out what this machine tells.
func New() *Reader { return &Reader{} }

// Close does nothing: nothing is kept open.
func (*Reader) Close() {}

// Energy says why Joules are not known here.
func (*Reader) Energy() (source string, err error) {
	return "", errors.New("energy is read on Linux alone")
}

// CountEvents would begin to count Events.
func (*Reader) CountEvents() error {
	return fmt.Errorf("%w: perf_event_open is of Linux alone", ErrNoEvents)
}
