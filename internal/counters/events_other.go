//go:build !linux

package counters

import "fmt"

// CountEvents would begin to count Events.
func (r *Reader) CountEvents() error {
	return fmt.Errorf("%w: perf_event_open is of Linux alone", ErrNoEvents)
}
