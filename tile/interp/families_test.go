package interp_test

import (
	"testing"

	"matladder/check"
	"matladder/kernels/kernelstest"
	"matladder/tile/interp"
)

// TestFamilies: what kernels of the other families mean is right by float64, whatever the
// order of parallel programs, and each injected fault is found.
func TestFamilies(t *testing.T) {
	kernelstest.Each(t, func(t *testing.T, c kernelstest.Case) {
		for _, dist := range check.Distributions() {
			in, err := check.Inputs(t.Context(), c.Problem, c.Programs, 7, dist)
			if err != nil {
				t.Fatal(err)
			}
			out, err := interp.RunWith(t.Context(), c.Programs, in, interp.Options{Shuffle: 3})
			if err != nil {
				t.Fatal(err)
			}
			r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, out[0])
			if err != nil || !r.OK {
				t.Errorf("%s: %+v, %v", dist, r, err)
			}
			for _, fault := range check.Faults() {
				bad := out[0]
				bad.Data = append([]byte(nil), bad.Data...)
				if err := check.Inject(fault, bad); err != nil {
					t.Fatal(err)
				}
				if r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, bad); err != nil || r.OK {
					t.Errorf("%s: fault %s is not found: %+v, %v", dist, fault, r, err)
				}
			}
		}
	})
}
