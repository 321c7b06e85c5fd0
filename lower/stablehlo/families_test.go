package stablehlo_test

import (
	"errors"
	"testing"

	"matladder/check"
	"matladder/kernels/kernelstest"
	"matladder/lower/stablehlo"
	"matladder/tile"
)

// TestFamilies verifies the meaning of kernels of the other families, and XLA's own way
// to compute their problems where it is known.
func TestFamilies(t *testing.T) {
	kernelstest.Each(t, func(t *testing.T, c kernelstest.Case) {
		in, err := check.Inputs(t.Context(), c.Problem, c.Programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		verify := func(out map[string]tile.Tensor) {
			if r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, c.Ordered(out)...); err != nil || !r.OK {
				t.Errorf("%+v, %v", r, err)
			}
		}
		l, err := stablehlo.Interpret(c.Programs)
		if err != nil {
			t.Fatal(err)
		}
		verify(runText(t, l, in))
		l, err = stablehlo.Baseline(c.Problem)
		if refused := (*stablehlo.UnsupportedError)(nil); errors.As(err, &refused) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		verify(runText(t, l, in))
	})
}
