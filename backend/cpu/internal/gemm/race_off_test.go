//go:build !race

package gemm

const thinner = 1
