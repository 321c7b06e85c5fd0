package accumulator

import (
	"context"
	"slices"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/internal/deadline"
	"matladder/problem"
	"matladder/tile"
)

// Of probes an executable of p, compiled from programs (nil for what a backend.Solver made). Its
// scales are one, its bias and zero points zero. No launch takes longer than a limit.
func Of(ctx context.Context, e backend.Executable, programs []*tile.Program, p problem.Matmul, limit time.Duration) (Accumulator, error) {
	arrays, _, err := seeded.Arrays(e, programs, p)
	if err != nil {
		return Accumulator{}, err
	}
	in, out := make([]tile.Tensor, len(arrays)), tile.NewTensor(p.Out, p.M, p.N)
	for i, o := range arrays {
		in[i] = tile.NewTensor(o.Dtype, o.Shape...)
		if o.Name == "sa" || o.Name == "sb" {
			in[i].SetAll(0, slices.Repeat([]float64{1}, in[i].Len()))
		}
	}
	return Find(p, func(a, b []float64) ([]float64, error) {
		for i, o := range arrays {
			if o.Name == "a" {
				in[i].SetAll(0, a)
			} else if o.Name == "b" {
				in[i].SetAll(0, b)
			}
		}
		if err := e.Load(in...); err != nil {
			return nil, err
		}
		ctx, cancel := deadline.WithTimeout(ctx, limit)
		defer cancel()
		if _, err := e.Run(ctx, 1); err != nil {
			return nil, err
		}
		err := e.Results(out)
		return out.Floats(), err
	})
}
