package gomlx_test

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
)

// BenchmarkDecoder is the model of the example on both backends: the time of a prompt of 64
// tokens, and the median of 32 that follow.
func BenchmarkDecoder(b *testing.B) {
	ours, err := compute.NewWithConfig("matladder")
	if err != nil {
		b.Fatal(err)
	}
	defer ours.Finalize()
	for _, on := range []compute.Backend{ours, gobackend.GetBackend()} {
		b.Run(on.String(), func(b *testing.B) {
			for b.Loop() {
				_, times, err := decode(on, 64, 32)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(times[0].Microseconds())/1e3, "ms/prompt")
				b.ReportMetric(float64(times[1].Microseconds())/1e3, "ms/token")
			}
		})
	}
}
