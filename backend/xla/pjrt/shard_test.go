//go:build linux && cgo

package pjrt

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/backend/worker"
	"matladder/check"
	"matladder/machine/mesh"
	"matladder/problem"
	"matladder/tile"
)

// TestSharded multiplies on the CPU plugin's four devices, in a worker, in every way that
// there is, and holds the product, put together from the devices' parts, to the float64
// reference; a damaged one must be noticed.
func TestSharded(t *testing.T) {
	be := openWorker(t, worker.Options{})
	for _, way := range mesh.Shardings {
		for _, spread := range []string{"data=2,model=2", "model=4", "model=2,data=2", "data=4,model=1", "data=1,model=2"} {
			for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
				t.Run(fmt.Sprintf("%s/%s/%s", way.Name, spread, d), func(t *testing.T) {
					p := problem.New(4*24, 4*10, 4*14, d)
					made, err := be.Solve(t.Context(), backend.ProblemSpec{Problem: p, Variant: way.Name, Mesh: spread})
					if err != nil {
						t.Fatal(err)
					}
					e := seeded.Of(made, nil, new(seeded.References))
					defer e.Close()
					spec := backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}
					if err := e.LoadSeeded(t.Context(), spec); err != nil {
						t.Fatal(err)
					}
					for _, launches := range []int{1, 2} {
						if err := e.Poison(t.Context()); err != nil {
							t.Fatal(err)
						}
						if s, err := e.Run(t.Context(), launches); err != nil || s.Method != Wall || s.Elapsed <= 0 {
							t.Fatalf("%+v, %v", s, err)
						}
						if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
							t.Errorf("%+v, %v", r, err)
						}
					}
					if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec, Fault: "tile"}); err != nil || r.OK {
						t.Errorf("a wrong tile passes: %+v, %v", r, err)
					}
				})
			}
		}
	}
}

// TestSharded_Refuses wants a reason for what cannot be spread.
func TestSharded_Refuses(t *testing.T) {
	be := openWorker(t, worker.Options{})
	for name, c := range map[string]struct {
		spec backend.ProblemSpec
		want string
	}{
		"devices": {backend.ProblemSpec{Problem: problem.New(80, 80, 80, tile.Float32), Variant: "split", Mesh: "data=8"}, "has 8 devices"},
		"ragged":  {backend.ProblemSpec{Problem: problem.New(81, 80, 80, tile.Float32), Variant: "split", Mesh: "data=2"}, "81 rows of a cannot be split evenly over 2"},
		"softmax": {backend.ProblemSpec{Problem: problem.SoftmaxFamily.Make(problem.SoftmaxFamily.Equal(64), problem.Asked{A: tile.Float32}), Variant: "split", Mesh: "data=2"}, "split"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := be.Solve(t.Context(), c.spec)
			if err == nil {
				e.Close()
			}
			if name != "softmax" && (!errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
