package interp_test

import (
	"testing"

	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/kernels/kernelstest"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestFamilies: what kernels of the other families mean is right by float64, whatever the
// order of parallel programs, and each injected fault in each output is found.
func TestFamilies(t *testing.T) {
	kernelstest.OneIn(t, thoroughtest.OneIn(1, 11, 11), func(t *testing.T, c kernelstest.Case) {
		bound, err := tile.Bind(c.Programs)
		if err != nil {
			t.Fatal(err)
		}
		named := func(refs []*tile.Ref, arrays []tile.Tensor) map[string]tile.Tensor {
			m := map[string]tile.Tensor{}
			for i, r := range refs {
				m[r.Name] = arrays[i]
			}
			return m
		}
		for _, dist := range check.Distributions() {
			arrays, err := check.Inputs(t.Context(), c.Problem, c.Programs, 7, dist)
			if err != nil {
				t.Fatal(err)
			}
			outputs, err := interp.RunWith(t.Context(), c.Programs, arrays, interp.Options{Shuffle: 3})
			if err != nil {
				t.Fatal(err)
			}
			in, out := named(bound.In, arrays), named(bound.Out, outputs)
			reference, err := check.ReferenceOf(t.Context(), c.Problem, in, 7, dist)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := reference.Verify(t.Context(), c.Programs, in, out); err != nil || !r.OK {
				t.Errorf("%s: %+v, %v", dist, r, err)
			}
			for _, fault := range check.FaultsOf(c.Problem) {
				bad, err := check.Damage(fault, out)
				if err != nil {
					t.Fatal(err)
				}
				if same(bad, out) {
					continue // zeros have no wrong sign
				}
				if r, err := reference.Verify(t.Context(), c.Programs, in, bad); err != nil || r.OK {
					t.Errorf("%s: fault %s is not found: %+v, %v", dist, fault, r, err)
				}
			}
		}
	})
}

// same reports whether arrays hold the same numbers.
func same(a, b map[string]tile.Tensor) bool {
	for name, x := range a {
		y := b[name]
		for i := range x.Len() {
			if x.At(i) != y.At(i) {
				return false
			}
		}
	}
	return true
}
