package mosaic_test

import (
	"testing"

	"matladder/check"
	"matladder/kernels/kernelstest"
)

// TestFamilies verifies the text of kernels of the other families.
func TestFamilies(t *testing.T) {
	kernelstest.Each(t, func(t *testing.T, c kernelstest.Case) {
		in, err := check.Inputs(t.Context(), c.Problem, c.Programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, c.Ordered(runText(t, c.Programs, in))...); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
