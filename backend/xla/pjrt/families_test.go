//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"testing"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/problem"
)

// TestBaseline_Families verifies XLA's own way to compute problems of the other families,
// where there is one, timed by its loop.
func TestBaseline_Families(t *testing.T) {
	be := openCPU(t, Options{})
	defer be.Close()
	for _, family := range problem.Families()[1:] {
		for _, words := range append(append([]string(nil), family.Dtypes...), family.Examples...) {
			t.Run(family.Name+"/"+words, func(t *testing.T) {
				asked, err := family.Parse(words)
				if err != nil {
					t.Fatal(err)
				}
				spec := backend.InputSpec{Problem: family.Make(family.Sample, asked), Seed: 5, Dist: check.Uniform}
				made, err := be.Solve(context.Background(), backend.ProblemSpec{Problem: spec.Problem})
				if errors.Is(err, backend.ErrUnsupported) {
					t.Skip(err)
				} else if err != nil {
					t.Fatal(err)
				}
				e := seeded.Of(made, nil, new(seeded.References))
				defer e.Close()
				if err := e.LoadSeeded(t.Context(), spec); err != nil {
					t.Fatal(err)
				}
				if s, err := e.Run(t.Context(), 2); err != nil || s.Elapsed <= 0 {
					t.Fatalf("Run: %+v, %v", s, err)
				}
				if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
					t.Errorf("%+v, %v", r, err)
				}
				if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec, Fault: check.FaultZeros}); err != nil || r.OK {
					t.Errorf("zeros were not found: %+v, %v", r, err)
				}
			})
		}
	}
}
