//go:build !amd64

package memory

func prefetch(*byte, int) {}
