//go:build linux || darwin

package memory

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// NewPages returns n zeroed bytes outside the heap of Go, so that they go back
// to the system when they are freed and not at some later collection.
func NewPages(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, max(n, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	adviseHuge(b)
	return b, nil
}

// FreePages gives them back to the system.
func FreePages(b []byte) error { return unix.Munmap(b) }
