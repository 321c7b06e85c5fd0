package main

import (
	"errors"

	"matladder/chips"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

var errNoBlocks = errors.New("the row has no block shape")

// rebuild makes the problem and the programs of a point anew. The error says
// what of the row no kernel here understands.
func rebuild(s *results.Summary) (problem.Matmul, []*tile.Program, error) {
	none := problem.Matmul{}
	k, err := kernels.Find(s.Kernel)
	if err != nil {
		return none, nil, err
	}
	if min(s.BM, s.BK, s.BN) < 1 {
		return none, nil, errNoBlocks
	}
	p := problem.Matmul{Batch: s.Batch, M: s.M, K: s.K, N: s.N, Quant: problem.Quant(s.Quant)}
	for _, d := range []struct {
		to   *tile.Dtype
		name string
	}{{&p.A, s.DtypeA}, {&p.B, s.DtypeB}, {&p.Acc, s.DtypeAcc}, {&p.Out, s.DtypeOut}} {
		if *d.to, err = tile.ParseDtype(d.name); err != nil {
			return none, nil, err
		}
	}
	if s.Precision == chips.PrecisionHighest {
		p.Precision = tile.Highest
	}
	epilogue, err := problem.ParseEpilogue(s.Activation)
	if err != nil {
		return none, nil, err
	}
	p = epilogue.Apply(p)
	if err := p.Validate(); err != nil {
		return none, nil, err
	}
	if err := k.Supports(p); err != nil {
		return none, nil, err
	}
	programs, err := k.Build(p, s.Variant, tile.Blocks{M: s.BM, K: s.BK, N: s.BN})
	return p, programs, err
}
