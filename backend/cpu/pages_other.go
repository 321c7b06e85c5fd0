//go:build !linux && !darwin

package cpu

// newPages returns n zeroed bytes.
func newPages(n int) ([]byte, error) { return make([]byte, max(n, 1)), nil }

func freePages([]byte) error { return nil }
