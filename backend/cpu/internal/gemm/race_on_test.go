//go:build race

package gemm

// thinner is how many times fewer cases run under the race detector, which is
// slow with pure Go kernels.
const thinner = 8
