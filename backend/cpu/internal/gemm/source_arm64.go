package gemm

import "embed"

// sources are the files of assembly that this program was built from.
//
//go:embed *_arm64.s
var sources embed.FS
