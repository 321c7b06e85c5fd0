//go:build !linux

// Faulttest needs Linux: it looks into /proc.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "faulttest: needs Linux")
	os.Exit(1)
}
