//go:build !race

package matladder

const raced = false
