package interp_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// BenchmarkMatmul says what a test over many shapes costs.
func BenchmarkMatmul(b *testing.B) {
	p := problem.New(64, 64, 64, tile.Float32)
	for _, blocks := range []tile.Blocks{{M: 64, K: 64, N: 64}, {M: 16, K: 16, N: 16}, {M: 24, K: 24, N: 24}, {M: 4, K: 4, N: 4}} {
		b.Run(blocks.String(), func(b *testing.B) {
			programs, err := kernels.All[4].Build(p, "", blocks)
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(7, 0))
			in := []tile.Tensor{randomTensor(random, p.A, p.M, p.K), randomTensor(random, p.B, p.K, p.N)}
			for b.Loop() {
				if _, err := interp.Run(context.Background(), programs, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
