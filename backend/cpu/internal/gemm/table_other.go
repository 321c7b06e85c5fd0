//go:build !amd64

package gemm

func table(ISA) *Kernels { return genericKernels() }
