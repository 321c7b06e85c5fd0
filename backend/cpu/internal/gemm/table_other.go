//go:build !amd64 && !arm64

package gemm

func table(ISA) *Kernels { return genericKernels() }
