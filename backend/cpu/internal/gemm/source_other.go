//go:build !amd64 && !arm64

package gemm

import "embed"

var sources embed.FS
