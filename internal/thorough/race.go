//go:build race

package thorough

// Raced says that the race detector watches this process.
const Raced = true
