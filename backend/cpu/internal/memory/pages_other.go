//go:build !linux && !darwin

package memory

const AsksForHugePages = false

func adviseHuge([]byte) {}

// NewPages returns n zeroed bytes, aligned as packed panels must be.
func NewPages(n int) ([]byte, error) { return NewBuffer(max(n, 1)), nil }

func FreePages([]byte) error { return nil }
