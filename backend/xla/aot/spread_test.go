package aot

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/lower/stablehlo"
	"matladder/machine/mesh"
	"matladder/problem"
	"matladder/tile"
)

// TestSpread compiles XLA's own product for whole pods, and holds what libtpu says of a
// device to what follows from the shardings: memory of arguments and results, FLOPs, and
// which arrays are exchanged between which devices. A pod of 256 chips is always among
// them; MATLADDER_TESTS=full adds 4096 and 9216, and every way on each.
func TestSpread(t *testing.T) {
	c := open(t, Options{})
	all := thoroughtest.Full()
	chosen := thoroughtest.Choose(1, 3, 3)
	for _, pod := range []struct {
		topology, mesh string
		large          bool
	}{
		{"v4:2x2x1", "data=4,model=2", false}, {"v5e:2x2", "data=2,model=2", false}, {"v5p:2x2x1", "data=2,model=2", false},
		{"v6e:2x2", "data=2,model=2", false}, {"tpu7x:2x2x1", "data=2,model=4", false},
		{"v5e:16x16", "data=16,model=16", false},
		{"v6e:16x16", "data=16,model=16", true}, {"v4:16x16x16", "data=256,model=32", true},
		{"v5p:16x16x16", "data=256,model=16", true}, {"tpu7x:16x24x24", "data=576,model=32", true},
	} {
		for _, way := range mesh.Shardings {
			if pod.large && !all || pod.topology != "v5e:16x16" && !chosen() {
				continue
			}
			t.Run(pod.topology+"/"+way.Name, func(t *testing.T) {
				m, err := mesh.Parse(pod.mesh)
				if err != nil {
					t.Fatal(err)
				}
				p := problem.New(64*m.Devices(), 2048, 4096, tile.BFloat16)
				launch, err := stablehlo.Baseline(p)
				if err != nil {
					t.Fatal(err)
				}
				program, err := launch.Sharded(m, way)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.CompileSpread(t.Context(), pod.topology, program.Module, m.Devices())
				if err != nil {
					t.Fatal(err)
				}
				bytes := func(name string, rows, columns int) int64 {
					s, err := m.Shape(name, [2]int{rows, columns}, way.Of(name))
					if err != nil {
						t.Fatal(err)
					}
					return 2 * int64(s[0]) * int64(s[1])
				}
				if in := bytes("a", p.M, p.K) + bytes("b", p.K, p.N); got.ArgumentBytes != in {
					t.Errorf("arguments of %d bytes, want %d", got.ArgumentBytes, in)
				}
				if out := bytes("o", p.M, p.N); got.OutputBytes != out {
					t.Errorf("results of %d bytes, want %d", got.OutputBytes, out)
				}
				each := float64(p.FLOPs()) / float64(m.Devices())
				if f := got.Cost["flops"]; f < 0.99*each || f > 1.02*each {
					t.Errorf("%g FLOPs a device, want %g", f, each)
				}
				kind := map[string]string{"gather": "all-gather", "scatter": "reduce-scatter", "reduce": "all-reduce"}[way.Name]
				if pod.large && way.Name == "scatter" { // over 32 devices libtpu pads the sums, and may gather again what that shifts
					moved := int64(0)
					for _, x := range got.Collectives {
						moved += x.Bytes
						t.Logf("%d devices: %s of %d bytes by %s", m.Devices(), x.Kind, x.Bytes, x.Algorithm)
					}
					if want := 2 * int64(p.M/m.Size("data")) * int64(p.N); moved < want {
						t.Errorf("%d bytes are exchanged, want at least %d", moved, want)
					}
					return
				}
				if (kind == "") != (len(got.Collectives) == 0) || len(got.Collectives) > 1 {
					t.Fatalf("exchanges %+v, want one %s", got.Collectives, kind)
				}
				for _, x := range got.Collectives {
					if len(x.Groups) == 0 {
						t.Fatalf("%s without groups", x.Kind)
					}
					want := int64(p.M/m.Size("data")) * int64(p.N)
					if way.Name == "gather" {
						want = int64(p.M/m.Size("data")) * int64(p.K)
					}
					// sums travel in float32 or bfloat16, as libtpu decides; two bytes an element are least
					if x.Kind != kind || x.Bytes != 2*want && (way.Name == "gather" || x.Bytes != 4*want) {
						t.Errorf("%s of %d bytes, want %s of %d", x.Kind, x.Bytes, kind, 2*want)
					}
					first := make([]int64, m.Size("model"))
					for i := range first {
						first[i] = int64(i)
					}
					if len(x.Groups) != m.Size("data") || fmt.Sprint(x.Groups[0]) != fmt.Sprint(first) {
						t.Errorf("%d groups, the first %v, want %d of %v", len(x.Groups), x.Groups[0], m.Size("data"), first)
					}
					if !strings.Contains(x.Algorithm, "sparsecore") && !strings.Contains(x.Algorithm, "All") && !strings.Contains(x.Algorithm, "Emitter") && !strings.Contains(x.Algorithm, "Strategy") {
						t.Errorf("algorithm %q", x.Algorithm)
					}
					t.Logf("%d devices: %s of %d bytes in groups of %d by %s, %d bytes of temporaries, compiled in %v",
						m.Devices(), x.Kind, x.Bytes, len(x.Groups[0]), x.Algorithm, got.TempBytes, got.Elapsed)
				}
			})
		}
	}
}

// TestPredictSpread: a prediction on a mesh tells the memory of a device, at least that of
// its parts of the arrays, and one that has not so much is told as too big, with as much.
func TestPredictSpread(t *testing.T) {
	b := openBackend(t, "v5e", t.TempDir())
	const on = "data=2,model=2"
	m, err := mesh.Parse(on)
	if err != nil {
		t.Fatal(err)
	}
	chosen := thoroughtest.Choose(1, 3, 3)
	for _, way := range mesh.Shardings {
		for _, rows := range []int{4096, 1 << 18} { // of 16 GiB and more on each device
			if !chosen() {
				continue
			}
			p := problem.New(rows, 65536, 65536, tile.BFloat16)
			if rows == 4096 {
				p = problem.New(rows, 2048, 2048, tile.BFloat16)
			}
			least := int64(0)
			for name, shape := range map[string][2]int{"a": {p.M, p.K}, "b": {p.K, p.N}, "o": {p.M, p.N}} {
				part, err := m.Shape(name, shape, way.Of(name))
				if err != nil {
					t.Fatal(err)
				}
				least += 2 * int64(part[0]) * int64(part[1])
			}
			got, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p, Variant: way.Name, Mesh: on})
			var big *backend.TooBigError
			if tooBig := least > int64(b.Device().MemoryBytes.Value); tooBig != errors.As(err, &big) || !tooBig && err != nil {
				t.Errorf("%s of %d rows: %v", way.Name, rows, err)
				continue
			}
			if got.MemoryBytes < least || got.MemoryBytes > 4*least {
				t.Errorf("%s of %d rows: %d bytes of memory, arrays take %d", way.Name, rows, got.MemoryBytes, least)
			}
			if err == nil && (got.Low > got.Elapsed || got.High < got.Elapsed || got.Low <= 0) {
				t.Errorf("%s: %v in %v to %v", way.Name, got.Elapsed, got.Low, got.High)
			}
		}
	}
}
