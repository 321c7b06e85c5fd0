package harness

import (
	"math"
	"path/filepath"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/machine"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// TestRun_Exact: what bounds of random inputs let pass, exact probes find before anything
// is measured: operands of 10 bits, and a missing last step of k, where sums are long.
func TestRun_Exact(t *testing.T) {
	const m, k, n = 16, 8192, 16
	for name, c := range map[string]struct {
		operand func(float32) float32
		steps   int
		want    results.Status
	}{
		"right":          {func(x float32) float32 { return x }, k, results.OK},
		"10 bits":        {func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1<<13 - 1)) }, k, results.Wrong},
		"a step missing": {func(x float32) float32 { return x }, k - 1, results.Wrong},
	} {
		t.Run(name, func(t *testing.T) {
			f := foreign.Function{Name: "mine", Family: problem.MatmulFamily}
			var err error
			if f.Asked, err = problem.MatmulFamily.Parse("float32"); err == nil {
				f.Asked, err = problem.MatmulFamily.Complete(f.Asked)
			}
			if err != nil {
				t.Fatal(err)
			}
			call := func(_ []int, arrays []tile.Tensor) error {
				a, b, o := arrays[0].Float32s(), arrays[1].Float32s(), arrays[2].Float32s()
				for i := range m {
					for j := range n {
						var sum float32
						for l := range c.steps {
							sum += c.operand(a[i*k+l]) * c.operand(b[l*n+j])
						}
						o[i*n+j] = sum
					}
				}
				return nil
			}
			mine, err := library.New(f, call, machine.Device{})
			if err != nil {
				t.Fatal(err)
			}
			defer mine.Close()
			be, err := cpu.Open(cpu.Options{Threads: 2, NoProbe: true})
			if err != nil {
				t.Fatal(err)
			}
			defer be.Close()
			config, err := Parse("exact.yaml", []byte("sizes: [16x8192x16]\ndtypes: [float32]\nkernels: [1]\nrounds: {min: 1, max: 1}\n"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Plan(t.Context(), config, be.Device(), backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			s.Compare(mine)
			out, err := Run(t.Context(), s, Options{Backend: be, Out: filepath.Join(t.TempDir(), "rows.csv"), Provenance: Provenance{RunID: "test"}})
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for _, r := range out.Rows {
				if r.Kernel == "mine" {
					if rows++; r.Status != c.want {
						t.Errorf("%s: %s", r.Status, r.Reason)
					}
				}
			}
			if rows == 0 {
				t.Error("no rows")
			}
		})
	}
}
