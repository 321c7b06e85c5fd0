package main

import (
	"fmt"

	"matladder/analyze"
	"matladder/chips"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// programs is a plots.StepModel: it builds the program of a point anew and asks
// package analyze.
type programs struct{}

// Step returns the step model's times of a point. The error says what of the
// device or the point is not known.
func (programs) Step(s *results.Summary) (analyze.Time, error) {
	device, ok := chips.Lookup(s.Chip)
	if !ok {
		return analyze.Time{}, fmt.Errorf("no chip %q", s.Chip)
	}
	k, err := kernels.Find(s.Kernel)
	if err != nil {
		return analyze.Time{}, err
	}
	p := problem.Matmul{Batch: s.Batch, M: s.M, K: s.K, N: s.N, Quant: problem.Quant(s.Quant), Activation: problem.Activation(s.Activation)}
	for _, d := range []struct {
		to   *tile.Dtype
		name string
	}{{&p.A, s.DtypeA}, {&p.B, s.DtypeB}, {&p.Acc, s.DtypeAcc}, {&p.Out, s.DtypeOut}} {
		if *d.to, err = tile.ParseDtype(d.name); err != nil {
			return analyze.Time{}, err
		}
	}
	if s.Precision == chips.PrecisionHighest {
		p.Precision = tile.Highest
	}
	list, err := k.Build(p, s.Variant, tile.Blocks{M: s.BM, K: s.BK, N: s.BN})
	if err != nil {
		return analyze.Time{}, err
	}
	if len(list) != 1 {
		return analyze.Time{}, fmt.Errorf("%s runs %d programs: there is no one step", s.Kernel, len(list))
	}
	work, err := analyze.WorkOf(list[0])
	if err != nil {
		return analyze.Time{}, err
	}
	return work.On(device, s.DtypeA, s.Precision)
}
