//go:build !amd64

package rows

// For returns the loops in Go.
func For(avx2, avx512 bool) Loops { return Generic }
