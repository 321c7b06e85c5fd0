package harness

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestWriteAccumulators: a function that adds even and odd products apart is found to, beside a
// kernel; one that fails has its reason.
func TestWriteAccumulators(t *testing.T) {
	const m, k, n = 12, 32, 32
	be, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer be.Close()
	config, err := Parse("sums.yaml", []byte("sizes: [12x32x32]\ndtypes: [float32, int8]\nkernels: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Plan(t.Context(), config, be.Device(), backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := problem.MatmulFamily.Parse("float32")
	if err != nil {
		t.Fatal(err)
	}
	fails := errors.New("it has no time")
	for name, call := range map[string]library.Call{
		"apart": func(_ []int, arrays []tile.Tensor) error {
			a, b, o := arrays[0].Float32s(), arrays[1].Float32s(), arrays[2].Float32s()
			for i := range m {
				for j := range n {
					var sum [2]float32
					for l := range k {
						sum[l%2] += a[i*k+l] * b[l*n+j]
					}
					o[i*n+j] = sum[0] + sum[1]
				}
			}
			return nil
		},
		"fails": func([]int, []tile.Tensor) error { return fails },
	} {
		f, err := library.New(foreign.Function{Name: name, Family: problem.MatmulFamily, Asked: asked}, call, machine.Device{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s.Compare(f)
	}
	var text strings.Builder
	if err := WriteAccumulators(t.Context(), &text, s, Options{Backend: be}); !errors.Is(err, fails) {
		t.Error(err)
	}
	for _, want := range []string{
		`(?m)^v1_naive +12x32x32 float32.* 24 +nearest even +operands kept, sums kept +32 × product, from \[0 1 2 3\]$`,
		`(?m)^apart +12x32x32 float32.* 24 +nearest even +operands kept, sums kept +16 × product, sum of 16, from \[0 2 4 6\]$`,
		`(?m)^fails +12x32x32 float32.* it has no time$`,
		`(?m)^v1_naive +12x32x32 int8.* at least 18 +none +none +not visible in integers$`,
		`(?m)^apart +12x32x32 int8.* apart computes float32$`,
	} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("no %s in\n%s", want, text.String())
		}
	}
}
