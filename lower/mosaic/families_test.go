package mosaic_test

import (
	"errors"
	"slices"
	"testing"

	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/kernels/kernelstest"
	"matladder/lower/mosaic"
	"matladder/tile"
)

func overlaps(p *tile.Program) bool { return slices.ContainsFunc(p.Refs, (*tile.Ref).Overlap) }

// TestFamilies verifies the text of kernels of the other families. Blocks that overlap are
// refused.
func TestFamilies(t *testing.T) {
	kernelstest.OneIn(t, thoroughtest.OneIn(1, 29, 29), func(t *testing.T, c kernelstest.Case) {
		if slices.ContainsFunc(c.Programs, overlaps) {
			if _, err := mosaic.Lower(c.Programs, mosaic.Options{}); !errors.As(err, new(*mosaic.UnsupportedError)) {
				t.Errorf("lowered: %v", err)
			}
			return
		}
		in, err := check.Inputs(t.Context(), c.Problem, c.Programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, c.Ordered(runText(t, c.Programs, in))...); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
