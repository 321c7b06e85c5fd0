package cpu

import (
	"context"
	"slices"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// Assembly compiles programs as Compile does and returns the micro-kernels that their
// products call, each once. Nothing runs. Errors are those of Compile.
func (b *Backend) Assembly(ctx context.Context, programs []*tile.Program, params backend.Params) ([]backend.Routine, error) {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	var seen []plan.Routine
	var list []backend.Routine
	for i := range e.Plans {
		for _, r := range e.Plans[i].Routines() {
			if slices.Contains(seen, r) {
				continue
			}
			seen = append(seen, r)
			one := backend.Routine{Name: r.Name, Product: r.Product}
			if one.File, one.Text = gemm.Assembly(r.Name); one.File == "" {
				one.Name = "" // it is in Go
			} else {
				one.File, one.Code = "backend/cpu/internal/gemm/"+one.File, gemm.Code(r.Name)
			}
			list = append(list, one)
		}
	}
	return list, nil
}
