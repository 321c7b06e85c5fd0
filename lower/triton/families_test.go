package triton_test

import (
	"errors"
	"testing"

	"matladder/backend"
	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/kernels/kernelstest"
)

// TestFamilies verifies the text of kernels of the other families.
func TestFamilies(t *testing.T) {
	kernelstest.OneIn(t, thoroughtest.OneIn(1, 29, 29), func(t *testing.T, c kernelstest.Case) {
		if _, err := (device{}).Compile(t.Context(), c.Programs, backend.Params{}); errors.Is(err, backend.ErrUnsupported) {
			t.Skip(err)
		}
		in, err := check.Inputs(t.Context(), c.Problem, c.Programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, c.Ordered(runText(t, c.Programs, backend.Params{}, in))...); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
