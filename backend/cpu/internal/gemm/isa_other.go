//go:build !amd64

package gemm

func missing(i ISA) []string {
	if i == Generic {
		return nil
	}
	return []string{"amd64"}
}
