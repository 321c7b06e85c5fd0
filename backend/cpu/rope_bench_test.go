package cpu

import (
	"fmt"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// BenchmarkRope turns 32 heads of 128 columns, of few rows that caches hold and of many, in
// turns with a copy of as many bytes as it reads and writes.
func BenchmarkRope(b *testing.B) {
	be, err := Open(Options{NoProbe: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, interleaved := range []bool{false, true} {
			for _, rows := range []int{1, 512, 4096} {
				p := problem.Rope{Batch: 1, Heads: 32, Rows: rows, Dim: 128, Dtype: d, Rotation: problem.Rotation{Interleaved: interleaved}}
				if rows == 1 {
					p.Batch = 256
				}
				for _, k := range kernels.Ladder(problem.RopeFamily) {
					programs, err := k.Build(p, "", problem.Clip(p, tile.Blocks{M: 64}))
					if err != nil {
						b.Fatal(err)
					}
					b.Run(fmt.Sprintf("%s/interleaved=%v/%d/%s", d, interleaved, rows, k.Name()), func(b *testing.B) {
						besideCopy(b, be, programs, p.Bytes())
					})
				}
			}
		}
	}
}
