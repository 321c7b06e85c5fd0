//go:build !linux

package gemm

import "time"

var begin = time.Now()

// threadTime is wall time here.
func threadTime() time.Duration { return time.Since(begin) }
