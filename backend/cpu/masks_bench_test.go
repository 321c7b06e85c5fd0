package cpu

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"matladder/backend"
	"matladder/kernels/attention/attentiontest"
	"matladder/problem"
	"matladder/tile"
)

// BenchmarkMasks is attention of 8 heads over 8192 keys, causal and with windows, in turns
// with all of the keys and with the causal half of them: the metrics are how many times as
// long those take, in the median of pairs. What is ideal follows from the scores that are
// seen.
func BenchmarkMasks(b *testing.B) {
	const keys, skip = 8192, 3
	shapes := []tile.Blocks{{M: 64, K: 256}, {M: 64, K: 512}, {M: 64, K: 1024}}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		of := func(causal bool, window int) problem.Attention {
			p := problem.Self(keys, 64, d)
			p.Heads, p.KVHeads, p.Causal = 8, 8, causal
			if window > 0 {
				p.Window, p.Left, p.Right = true, window-1, 0
			}
			return p
		}
		for _, s := range shapes {
			for _, window := range []int{256, 1024, 4096} {
				b.Run(fmt.Sprintf("%s/%d/%d×%d", d, window, s.M, s.K), func(b *testing.B) {
					all := []problem.Attention{of(true, window), of(true, 0), of(false, 0)}
					var seconds [3][]float64
					var launch [3]backend.Executable
					for i, p := range all {
						blocks := tile.Blocks{M: 64, K: 1024} // the fastest of those that are whole
						if i == 0 {
							blocks = s
						}
						launch[i], _, _ = runAttention(b, Options{}, attentiontest.Rungs()[skip], p, blocks)
					}
					for b.Loop() {
						for i := range all {
							x, err := launch[i].Run(context.Background(), 1)
							if err != nil {
								b.Fatal(err)
							}
							seconds[i] = append(seconds[i], x.Elapsed.Seconds())
						}
					}
					times := func(i int) float64 {
						var ratios []float64
						for n, x := range seconds[0] {
							ratios = append(ratios, seconds[i][n]/x)
						}
						slices.Sort(ratios)
						return ratios[len(ratios)/2]
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(times(1), "×-causal")
					b.ReportMetric(float64(all[1].FLOPs())/float64(all[0].FLOPs()), "×-causal-ideal")
					b.ReportMetric(times(2), "×-full")
					b.ReportMetric(float64(all[2].FLOPs())/float64(all[0].FLOPs()), "×-full-ideal")
				})
			}
		}
	}
}
