//go:build !race

package thoroughtest

// Raced says that the race detector watches this process.
const Raced = false
