package tile_test

import (
	"testing"

	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// BenchmarkBuild builds and verifies a matmul, as a dry run does for each point
// of a sweep; its time must not depend on the size of the grid.
func BenchmarkBuild(b *testing.B) {
	for name, size := range map[string]int{"small": 256, "large": 1 << 20, "ragged": 1<<20 - 1} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := problem.New(size, size, size, tile.BFloat16)
				if _, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 128, K: 128, N: 128}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for name, size := range map[string]int{"aligned": 1024, "ragged": 1000} {
		p := problem.New(size, size, size, tile.BFloat16)
		programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 128, K: 128, N: 128})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := programs[0].Verify(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
