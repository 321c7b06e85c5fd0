//go:build !linux && !darwin

package memory

// AsksForHugePages says whether large arrays are put on large pages.
const AsksForHugePages = false

func adviseHuge([]byte) {}

// NewPages returns n zeroed bytes, aligned as packed panels must be.
func NewPages(n int) ([]byte, error) { return NewBuffer(max(n, 1)), nil }

// FreePages leaves them to the garbage collector.
func FreePages([]byte) error { return nil }
