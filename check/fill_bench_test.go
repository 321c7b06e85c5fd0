package check

import (
	"context"
	"fmt"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// BenchmarkFill tells the bytes/s at which operands are made.
func BenchmarkFill(b *testing.B) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Float8E4M3FN, tile.Int8, tile.Int4} {
		for _, dist := range []string{Uniform, Normal} {
			b.Run(fmt.Sprintf("%s %s", d, dist), func(b *testing.B) {
				p := problem.New(1024, 1024, 1024, d)
				t := tile.NewTensor(d, p.M, p.K)
				b.SetBytes(int64(len(t.Data)))
				for b.Loop() {
					if err := Fill(context.Background(), t, "a", p, 1, dist); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
