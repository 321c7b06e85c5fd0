package harness

import (
	"context"
	"errors"
	"testing"

	"matladder/backend"
)

// counting is a context that ends at its nth look.
type counting struct {
	context.Context
	looks, last int
}

func (c *counting) Err() error {
	if c.looks++; c.looks > c.last {
		return context.Canceled
	}
	return nil
}

// TestPlan_Canceled: multiplying a sweep out looks at its context at each problem.
func TestPlan_Canceled(t *testing.T) {
	c, err := Parse("wide.yaml", []byte("sizes: {start: 1, end: 300, step: 1}\ndtypes: [float32, int8]\nkernels: [1, 4]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range []int{0, 1, 299, 599} {
		ctx := &counting{Context: t.Context(), last: last}
		if s, err := Plan(ctx, c, newFake().device, backend.Params{}); !errors.Is(err, context.Canceled) || s.Groups != nil || ctx.looks > last+2 {
			t.Errorf("canceled at look %d: %v, %d looks, %d groups", last, err, ctx.looks, len(s.Groups))
		}
	}
	if s, err := Plan(t.Context(), c, newFake().device, backend.Params{}); err != nil || len(s.Groups) != 600 {
		t.Errorf("%v, %d groups", err, len(s.Groups))
	}
}
