package plots

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// TestColors: every text has the contrast WCAG asks for, every line the 2 to 1
// below which it would fade on paper, and kernels differ in colour.
func TestColors(t *testing.T) {
	seen := map[string]string{}
	for _, kernel := range []string{"xla", "v1_naive", "v2_parallel", "v3_block", "v4_optblock", "v5_quant", "openblas", "onednn", "blis", "mkl", "libxsmm", "other"} {
		c := kernelColor(kernel)
		if other, taken := seen[fmt.Sprint(c)]; taken {
			t.Errorf("%s and %s have one colour", kernel, other)
		}
		seen[fmt.Sprint(c)] = kernel
		for shade := -1.0; shade <= 1; shade += 0.25 {
			s := figure.Shaded(c, shade)
			if contrast := figure.ContrastOnWhite(figure.TextColor(s)); contrast < 4.5 {
				t.Errorf("%s at %v: text has a contrast of %.2f", kernel, shade, contrast)
			}
			if contrast := figure.ContrastOnWhite(s); shade >= 0 && contrast < 2 {
				t.Errorf("%s at %v: the line has a contrast of %.2f", kernel, shade, contrast)
			}
		}
	}
}

// FuzzCharts draws whatever a legal row may hold: no panic, no place that is
// no number.
func FuzzCharts(f *testing.F) {
	f.Add(512, 512, 512, 1, 1e-3, 1e12, 1e11, int64(1<<20), 0)
	f.Add(1, 1, 1, 1, 1e-300, 1e308, 1e-300, int64(1), 1)
	f.Add(math.MaxInt32, 1, 7, 3, 1e300, 0.0, 0.0, int64(math.MaxInt64), 5)
	f.Add(100000, 100000, 100000, 1, 5e-324, 5e-324, 1.7e308, int64(0), 2)
	f.Fuzz(func(t *testing.T, m, k, n, batch int, seconds, peak, bandwidth float64, moved int64, status int) {
		r := hand("v3_block", 64, 1e9)
		r.M, r.K, r.N, r.Batch, r.Seconds, r.PeakFLOPs, r.Bandwidth, r.BytesMoved = m, k, n, batch, seconds, peak, bandwidth, moved
		r.GridSteps, r.RelErr, r.ErrOverBound = moved, results.Some(bandwidth), results.Some(seconds)
		r.Status = results.Statuses[((status%len(results.Statuses))+len(results.Statuses))%len(results.Statuses)]
		if r.Check() != nil {
			return
		}
		rows := []results.Record{r, with(hand("v1_naive", 64, 1e9), func(r *results.Record) { r.BytesMoved = 1 << 16 })}
		rows = append(rows, with(rows[0], func(r *results.Record) { r.Pos.File = "b.csv" }))
		for _, devices := range []int{1, max(2, n)} {
			rows = append(rows, with(rows[0], func(r *results.Record) { r.Devices, r.Mesh = devices, fmt.Sprintf("data=%d", devices) }))
		}
		for _, kind := range Kinds() {
			q := Request{Kind: kind, Dtype: "float32"}
			if kind.Scope() == PerKernel {
				q.Kernel = "v3_block"
			}
			pictures, err := Pictures(stats.Summarize(rows), q)
			if err != nil && (kind == Size || kind == Kernels || kind == Ladder) {
				t.Fatal(err)
			}
			for _, p := range pictures {
				var svg bytes.Buffer
				if err := figure.Write(&svg, p, figure.SVG); err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(svg.Bytes(), []byte("NaN")) || bytes.Contains(svg.Bytes(), []byte("Inf")) {
					t.Fatalf("%s has a place that is no number", p.Head().Name)
				}
			}
		}
	})
}
