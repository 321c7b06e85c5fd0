package harness

import (
	"errors"

	"matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// Rebuild makes the problem and the programs of a point again. The error says
// what of the row no kernel here understands.
func Rebuild(r *results.Record) (problem.Problem, []*tile.Program, error) {
	f, err := problem.Find(r.FamilyName())
	if err != nil {
		return nil, nil, err
	}
	k, err := kernels.FindIn(f, r.Kernel)
	if err != nil {
		return nil, nil, err
	}
	sizes, err := f.ParseShape(r.ShapeName())
	if err != nil {
		return nil, nil, err
	}
	asked := problem.Asked{Quant: problem.Quant(r.Quant), Options: r.Options}
	for _, d := range []struct {
		to   *tile.Dtype
		name string
	}{{&asked.A, r.DtypeA}, {&asked.B, r.DtypeB}, {&asked.Acc, r.DtypeAcc}, {&asked.Out, r.DtypeOut}} {
		if d.name == "" && d.to != &asked.A {
			continue
		}
		if *d.to, err = tile.ParseDtype(d.name); err != nil {
			return nil, nil, err
		}
	}
	if r.Precision == machine.PrecisionHighest {
		asked.Precision = tile.Highest
	}
	if asked.Epilogue, err = problem.ParseEpilogue(r.Activation); err != nil {
		return nil, nil, err
	}
	if asked, err = f.Complete(asked); err != nil {
		return nil, nil, err
	}
	p := f.Make(sizes, asked)
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	if err := k.Supports(p); err != nil {
		return nil, nil, err
	}
	for i, side := range []int{r.BM, r.BK, r.BN} {
		if i < len(p.Sides()) && side < 1 {
			return nil, nil, errors.New("the row has no block shape")
		}
	}
	programs, err := k.Build(p, r.Variant, tile.Blocks{M: r.BM, K: r.BK, N: r.BN})
	return p, programs, err
}
