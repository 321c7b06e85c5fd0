package gemm

// missing is nothing for NEON, which every arm64 that Go runs on has.
func missing(i ISA) []string {
	switch i {
	case Generic, NEON:
		return nil
	}
	return []string{"amd64"}
}
