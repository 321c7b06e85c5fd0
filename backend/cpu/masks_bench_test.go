package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/kernels/attention/attentiontest"
	"matladder/kernels/attention/scores"
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
			for _, window := range []int{256, 512, 1024, 2048, 4096, 8192} {
				b.Run(fmt.Sprintf("%s/%d/%d×%d", d, window, s.M, s.K), func(b *testing.B) {
					all := []problem.Attention{of(true, window), of(true, 0), of(false, 0)}
					launches := make([]backend.Executable, len(all))
					for i, p := range all {
						blocks := tile.Blocks{M: 64, K: 1024} // the fastest of those that are whole
						if i == 0 {
							blocks = s
						}
						launches[i], _, _ = runAttention(b, Options{}, attentiontest.Rungs()[skip], p, blocks)
					}
					seconds := inTurns(b, launches)
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(times(seconds[1], seconds[0]), "×-causal")
					b.ReportMetric(float64(all[1].FLOPs())/float64(all[0].FLOPs()), "×-causal-ideal")
					b.ReportMetric(times(seconds[2], seconds[0]), "×-full")
					b.ReportMetric(float64(all[2].FLOPs())/float64(all[0].FLOPs()), "×-full-ideal")
				})
			}
		}
	}
}

// BenchmarkDensity is attention of 8 heads over 8192 keys of which some blocks of scores
// are computed, drawn at random, in turns with all of them by the rung that has no list. A
// metric is the milliseconds of a density, or the part that it is of its ideal: the time of
// all, times the density.
func BenchmarkDensity(b *testing.B) {
	const keys, skip, sparse = 8192, 3, 5
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.Self(keys, 64, d)
		p.Heads, p.KVHeads = 8, 8
		for _, s := range []tile.Blocks{{M: 64, K: 512}, {M: 128, K: 128}} {
			b.Run(fmt.Sprintf("%s/%d×%d", d, s.M, s.K), func(b *testing.B) {
				percents := []int{6, 12, 25, 50, 75, 100}
				all, _, _ := runAttention(b, Options{}, attentiontest.Rungs()[skip], p, tile.Blocks{M: 64, K: 1024})
				launches := []backend.Executable{all}
				densities := make([]float64, len(percents))
				for i, percent := range percents {
					e, programs, in := runAttention(b, Options{}, attentiontest.Rungs()[sparse], p, s)
					bound, err := tile.Bind(programs)
					if err != nil {
						b.Fatal(err)
					}
					rows, columns := tile.Ceil(keys, s.M), tile.Ceil(keys, s.K)
					kept := rand.New(rand.NewPCG(1, 2)).Perm(rows * columns)
					list := scores.ListOf(p, s, func(row, key int) bool { return kept[row*columns+key] < len(kept)*percent/100 })
					for i, r := range bound.In {
						if t, ok := list.Tables(scores.Most(p, s))[r.Name]; ok {
							in[i] = t
						}
					}
					if err := e.Load(in...); err != nil {
						b.Fatal(err)
					}
					launches, densities[i] = append(launches, e), float64(len(kept)*percent/100)/float64(len(kept))
				}
				seconds := inTurns(b, launches)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(seconds[0])*1e3, "ms-all")
				for i, percent := range percents {
					b.ReportMetric(median(seconds[i+1])*1e3, fmt.Sprintf("ms-%d%%", percent))
					b.ReportMetric(times(seconds[0], seconds[i+1])*densities[i], fmt.Sprintf("of-ideal-%d%%", percent))
				}
			})
		}
	}
}
