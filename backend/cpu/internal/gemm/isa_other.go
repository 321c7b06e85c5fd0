//go:build !amd64 && !arm64

package gemm

func missing(i ISA) []string {
	switch i {
	case Generic:
		return nil
	case NEON:
		return []string{"arm64"}
	}
	return []string{"amd64"}
}
