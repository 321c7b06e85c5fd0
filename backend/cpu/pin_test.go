package cpu

import (
	"context"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/seeded"
	"matladder/check"
	optblock "matladder/kernels/v4_optblock"
	"matladder/problem"
	"matladder/tile"
)

// TestPin_Cold: launches on bound threads that find cold caches compute the same, launch
// after launch, of several executables at once.
func TestPin_Cold(t *testing.T) {
	cpus, err := exec.Processors()
	if err != nil {
		t.Skip(err)
	}
	if _, err := Open(Options{Threads: len(cpus) + 1, Pin: true}); err == nil || !strings.Contains(err.Error(), "threads cannot have cores of their own: this process may use") {
		t.Errorf("more threads than processors: %v", err)
	}
	be, err := Open(Options{Threads: min(3, len(cpus)), Pin: true, NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer be.Close()
	ctx := context.Background()
	p := problem.New(150, 70, 90, tile.Float32)
	programs, err := optblock.Kernel.Build(p, "", tile.Blocks{M: 64, K: 32, N: 48})
	if err != nil {
		t.Fatal(err)
	}
	var list []backend.Seeded
	for range 3 {
		e, err := be.Compile(ctx, programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := be.Cool(ctx, e); err == nil {
			t.Error("cooled before anything was loaded")
		}
		s := seeded.Of(e, programs, new(seeded.References))
		if err := s.LoadSeeded(ctx, backend.InputSpec{Problem: p, Seed: 1, Dist: check.Uniform}); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	for round := range 6 {
		e := list[round%len(list)]
		if err := e.Poison(ctx); err != nil {
			t.Fatal(err)
		}
		if err := be.Cool(ctx, seeded.Inner(e)); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(ctx, 1+round); err != nil {
			t.Fatal(err)
		}
		if err := be.Cool(ctx, seeded.Inner(e)); err != nil {
			t.Fatal(err)
		}
		res, err := e.Check(ctx, backend.CheckSpec{InputSpec: backend.InputSpec{Problem: p, Seed: 1, Dist: check.Uniform}})
		if err != nil || !res.OK {
			t.Fatalf("round %d: %+v, %v", round, res, err)
		}
	}
}
