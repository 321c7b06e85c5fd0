package seeded_test

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// Any executable has inputs made from a seed, and its output verified.
func ExampleOf() {
	ctx, p := context.Background(), problem.New(20, 30, 40, tile.Float32)
	if err := verified(ctx, p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// true
}

func verified(ctx context.Context, p problem.Matmul) error {
	b, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true})
	if err != nil {
		return err
	}
	defer b.Close()
	programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 16, K: 16, N: 16})
	if err != nil {
		return err
	}
	compiled, err := b.Compile(ctx, programs, backend.Params{})
	if err != nil {
		return err
	}
	e := seeded.Of(compiled, programs, seeded.Keep(1, false))
	defer e.Close()
	spec := backend.InputSpec{Problem: p, Seed: 1, Dist: check.Uniform}
	if err := e.LoadSeeded(ctx, spec); err != nil {
		return err
	}
	if _, err := e.Run(ctx, 1); err != nil {
		return err
	}
	r, err := e.Check(ctx, backend.CheckSpec{InputSpec: spec})
	fmt.Println(r.OK)
	return err
}
