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
				for cols := 256; cols <= 8192; cols *= 2 {
					p := problem.Norm{Rows: 1 << 26 / cols, Cols: cols, X: d, Out: d, RMS: rms, Residual: residual}
					for _, k := range kernels.Ladder(problem.NormFamily) {
						if k.Number() < 2 || k.Supports(p) != nil {
							continue
						}
						programs, err := k.Build(p, "", tile.Blocks{M: 64})
						if err != nil {
							b.Fatal(err)
						}
						b.Run(fmt.Sprintf("%s/rms=%v/residual=%v/%d/%s", d, rms, residual, cols, k.Name()), func(b *testing.B) {
							besideCopy(b, be, programs, p.Bytes())
						})
					}
				}
			}
		}
	}
}
