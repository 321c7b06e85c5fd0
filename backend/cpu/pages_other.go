//go:build !linux && !darwin

package cpu

import "matladder/backend/cpu/internal/gemm"

const asksForHugePages = false

func adviseHuge([]byte) {}

// newPages returns n zeroed bytes, aligned as packed panels must be.
func newPages(n int) ([]byte, error) { return gemm.Buffer(max(n, 1)), nil }

func freePages([]byte) error { return nil }
