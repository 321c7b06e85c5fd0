//go:build !amd64

package rows

// For returns the loops in Go.
func For(bool) Loops { return Generic }
