//go:build !amd64 && !arm64

package probe

func has(string) bool { return false }

func ownLoops() []loopsOf { return nil }
