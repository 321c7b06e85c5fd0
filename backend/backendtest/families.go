package backendtest

import (
	"context"
	"errors"
	"testing"

	"matladder/backend"
	"matladder/check"
	"matladder/kernels/kernelstest"
)

// testFamilies takes kernels of the families beyond matmul through what a sweep does:
// inputs made and outputs verified beside the device, faults found, nothing stale.
func testFamilies(t *testing.T, s suite) {
	if !s.Seeded {
		t.Skip("seeded inputs are not asked for")
	}
	n := 0
	kernelstest.Each(t, func(t *testing.T, c kernelstest.Case) {
		if n++; !s.runs(n, s.FamiliesOneIn) {
			t.Skip("left out: one runs of ", s.FamiliesOneIn)
		}
		e, err := s.tryCompile(t.Context(), c.Programs, s.Params)
		if errors.Is(err, backend.ErrUnsupported) && s.MayRefuseFamilies {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		spec := backend.InputSpec{Problem: c.Problem, Seed: 7, Dist: "uniform"}
		if err := e.LoadSeeded(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), several); err != nil {
			t.Fatal(err)
		}
		if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
		for _, fault := range check.FaultsOf(c.Problem) {
			if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec, Fault: fault}); err != nil || r.OK {
				t.Errorf("fault %s was not found: %+v, %v", fault, r, err)
			}
		}
		if err := e.Poison(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || r.OK {
			t.Errorf("an output that nothing wrote is right: %+v, %v", r, err)
		}
		if check.HasExact(c.Problem) {
			s.exactly(t, e, c.Problem)
		}
	})
}
