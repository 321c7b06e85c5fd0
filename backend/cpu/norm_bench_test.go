package cpu

import (
	"fmt"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// BenchmarkNorms runs norms of rows that no cache holds, in turns with a copy of as many
// bytes as they read and write.
func BenchmarkNorms(b *testing.B) {
	be, err := Open(Options{NoProbe: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, rms := range []bool{false, true} {
			for _, residual := range []bool{false, true} {
				p := problem.Norm{Rows: 16384, Cols: 4096, X: d, Out: d, RMS: rms, Residual: residual}
				for _, k := range kernels.Ladder(problem.NormFamily) {
					if k.Number() < 2 || k.Supports(p) != nil {
						continue
					}
					for _, m := range []int{16, 64} {
						programs, err := k.Build(p, "", tile.Blocks{M: m})
						if err != nil {
							b.Fatal(err)
						}
						b.Run(fmt.Sprintf("%s/rms=%v/residual=%v/%s/%d", d, rms, residual, k.Name(), m), func(b *testing.B) {
							besideCopy(b, be, programs, p.Bytes())
						})
					}
				}
			}
		}
	}
}
