//go:build race

package matladder

const raced = true
