//go:build !linux

package cpu

// The memory of other systems is not asked for.
func availableMemory() int64 { return 0 }
func totalMemory() int64     { return 0 }
