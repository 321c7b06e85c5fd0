package aot

import (
	"fmt"
	"slices"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// TestExchanged compiles XLA's own program of tokens to experts and back for slices of all
// generations, and holds what libtpu says of a device to what follows from the problem: its
// own rows and experts are its memory and its FLOPs, and two exchanges among all devices, of
// its rows and of its products, are what moves. MATLADDER_TESTS=full adds whole pods, of 256
// to 9216 chips.
func TestExchanged(t *testing.T) {
	c := open(t, Options{})
	all := thoroughtest.Full()
	for _, pod := range []struct {
		topology          string
		devices, capacity int
		dtype             tile.Dtype
		large             bool
	}{
		{"v4:2x2x1", 8, 128, tile.BFloat16, false}, {"v5e:4x4", 16, 128, tile.BFloat16, false}, {"v5e:4x4", 16, 128, tile.Float32, false}, {"v5p:2x2x1", 4, 128, tile.BFloat16, false},
		{"v6e:2x2", 4, 128, tile.BFloat16, false}, {"tpu7x:2x2x1", 8, 128, tile.BFloat16, false},
		{"v5e:16x16", 256, 16, tile.BFloat16, true}, {"v6e:16x16", 256, 16, tile.BFloat16, true}, {"v5p:16x16x16", 4096, 2, tile.BFloat16, true},
		{"v4:16x16x16", 8192, 2, tile.BFloat16, true}, {"tpu7x:16x24x24", 18432, 2, tile.BFloat16, true},
	} {
		if pod.large && !all {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s", pod.topology, pod.dtype), func(t *testing.T) {
			p := problem.Exchanged{Each: problem.Experts{
				Tokens: 1024, Dim: 512, Experts: 2 * pod.devices, Choices: 2, Capacity: pod.capacity, Order: problem.TopFirst, Dtype: pod.dtype,
			}, N: 1024, Devices: pod.devices}
			program, err := stablehlo.Exchanged(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.CompileSpread(t.Context(), pod.topology, program.Module, pod.devices)
			if err != nil {
				t.Fatal(err)
			}
			bytes := int64(pod.dtype.Bits() / 8)
			rows, w, y := bytes*int64(p.Each.Rows()*p.Each.Dim), bytes*int64(p.Share()*p.Each.Dim*p.N), bytes*int64(p.Each.Rows()*p.N)
			if got.ArgumentBytes != rows+w {
				t.Errorf("arguments of %d bytes, want %d", got.ArgumentBytes, rows+w)
			}
			if got.OutputBytes != y {
				t.Errorf("results of %d bytes, want %d", got.OutputBytes, y)
			}
			each := 2 * float64(p.Each.Rows()) * float64(p.Each.Dim) * float64(p.N)
			if f := got.Cost["flops"]; f < 0.99*each || f > 1.02*each {
				t.Errorf("%g FLOPs a device, want %g", f, each)
			}
			everybody := make([]int64, pod.devices)
			for i := range everybody {
				everybody[i] = int64(i)
			}
			var moved []string
			for _, x := range got.Collectives {
				moved = append(moved, fmt.Sprintf("%s of %d bytes", x.Kind, x.Bytes))
				if len(x.Groups) != 1 || !slices.Equal(x.Groups[0], everybody) {
					t.Errorf("%s in %d groups, want one of all devices", x.Kind, len(x.Groups))
				}
				if x.Algorithm == "" {
					t.Errorf("%s by no algorithm", x.Kind)
				}
				t.Logf("%d devices: %s of %d bytes by %s, at once with others: %t, compiled in %v", pod.devices, x.Kind, x.Bytes, x.Algorithm, x.Async, got.Elapsed)
			}
			sent := 2 * int64(p.Each.Rows()*p.Each.Dim) // in bfloat16: float32 is multiplied as that, and converted before it is sent
			if want := []string{fmt.Sprintf("all-to-all of %d bytes", sent), fmt.Sprintf("all-to-all of %d bytes", y)}; !slices.Equal(moved, want) {
				t.Errorf("exchanges %v, want %v", moved, want)
			}
		})
	}
}
