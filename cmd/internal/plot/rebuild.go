package plot

import (
	"errors"

	"matladder/stats"

	"matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

var errNoBlocks = errors.New("the row has no block shape")

// rebuild makes the problem and the programs of a point again. The error says
// what of the row no kernel here understands.
func rebuild(s *stats.Summary) (problem.Problem, []*tile.Program, error) {
	f, err := problem.Find(s.FamilyName())
	if err != nil {
		return nil, nil, err
	}
	k, err := kernels.FindIn(f, s.Kernel)
	if err != nil {
		return nil, nil, err
	}
	sizes, err := f.ParseShape(s.ShapeName())
	if err != nil {
		return nil, nil, err
	}
	asked := problem.Asked{Quant: problem.Quant(s.Quant), Options: s.Options}
	for _, d := range []struct {
		to   *tile.Dtype
		name string
	}{{&asked.A, s.DtypeA}, {&asked.B, s.DtypeB}, {&asked.Acc, s.DtypeAcc}, {&asked.Out, s.DtypeOut}} {
		if d.name == "" && d.to != &asked.A {
			continue
		}
		if *d.to, err = tile.ParseDtype(d.name); err != nil {
			return nil, nil, err
		}
	}
	if s.Precision == machine.PrecisionHighest {
		asked.Precision = tile.Highest
	}
	if asked.Epilogue, err = problem.ParseEpilogue(s.Activation); err != nil {
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
	for i, side := range []int{s.BM, s.BK, s.BN} {
		if i < len(p.Sides()) && side < 1 {
			return nil, nil, errNoBlocks
		}
	}
	programs, err := k.Build(p, s.Variant, tile.Blocks{M: s.BM, K: s.BK, N: s.BN})
	return p, programs, err
}
