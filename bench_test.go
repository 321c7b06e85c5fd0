package matladder_test

import (
	"fmt"
	"time"

	"testing"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

// matrix is of small numbers, each unlike its neighbours.
func matrix(d tile.Dtype, rows, cols int) matladder.Tensor {
	switch d {
	case tile.BFloat16:
		x, t := matladder.Make[matladder.BFloat16](rows, cols)
		for i := range x {
			x[i] = matladder.ToBFloat16(float32(i%17)/16 - 0.5)
		}
		return t
	case tile.Int8:
		x, t := matladder.Make[int8](rows, cols)
		for i := range x {
			x[i] = int8(i%17) - 8
		}
		return t
	case tile.Int32:
		_, t := matladder.Make[int32](rows, cols)
		return t
	}
	x, t := matladder.Make[float32](rows, cols)
	for i := range x {
		x[i] = float32(i%17)/16 - 0.5
	}
	return t
}

func elapsed(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

// BenchmarkRun is what a call takes, from small to large; tools/rate compares it with
// launches as bench times them.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{16, 64, 512, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, err := matladder.Compile(b.Context(), problem.New(n, n, n, tile.Float32), matladder.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			x, y, o := matrix(tile.Float32, n, n), matrix(tile.Float32, n, n), matrix(tile.Float32, n, n)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Run(b.Context(), o, x, y); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
