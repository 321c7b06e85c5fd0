package library_test

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// A Go function of one's own is run and verified as kernels are.
func ExampleNew() {
	f := foreign.Function{Name: "dot_by_dot", Family: problem.MatmulFamily, Asked: problem.New(1, 1, 1, tile.Float32).Asked()}
	b, err := library.New(f, func(sizes []int, arrays []tile.Tensor) error {
		m, k, n := sizes[0], sizes[1], sizes[2]
		x, y, o := arrays[0], arrays[1], arrays[2]
		for i := range m {
			for j := range n {
				sum := 0.0
				for l := range k {
					sum += x.At(i*k+l) * y.At(l*n+j)
				}
				o.Set(i*n+j, sum)
			}
		}
		return nil
	}, machine.Device{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	ctx, p := context.Background(), problem.New(20, 30, 40, tile.Float32)
	made, err := b.Solve(ctx, backend.ProblemSpec{Problem: p})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	in := backend.InputSpec{Problem: p, Seed: 1, Dist: check.Uniform}
	if err := e.LoadSeeded(ctx, in); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := e.Run(ctx, 1); err != nil {
		fmt.Println(err)
		return
	}
	r, err := e.Check(ctx, backend.CheckSpec{InputSpec: in})
	fmt.Println(r.OK, err)
	// Output:
	// true <nil>
}
