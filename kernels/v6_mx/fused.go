package mx

import (
	"matladder/kernels/scaled"
	"matladder/problem"
	"matladder/tile"
)

// fused is the variant that quantizes a in the product's own program, groups of k of rows
// again for each j.
const fused = "fused"

func variants(p problem.Matmul) []string {
	list := []string{""}
	s, err := p.Scheme()
	if err == nil && s.Dynamic && s.A == problem.TokenBlock {
		list = append(list, fused)
	}
	if err == nil && s.Scales != tile.Float32 {
		list = append(list, decoded)
	}
	return list
}

// start begins the program of the product, and returns that which quantizes a for it, if p asks
// for that. In variant fused each step quantizes one group of k, which is its block: no codes
// are kept.
func start(p problem.Matmul, variant string, s tile.Blocks) (*scaled.Program, []*tile.Program, error) {
	if err := p.Grouped(); err != nil {
		return nil, nil, err
	}
	scheme, err := p.Scheme()
	if err != nil {
		return nil, nil, err
	}
	if variant == fused {
		s.K = scheme.Block
		t := scaled.Begin(name, scaled.Quantized(p), scheme, s)
		t.Fused, t.TypeOfA = true, p.A
		return t, nil, nil
	}
	if s, err = wholeGroups(scheme, p, s); err != nil {
		return nil, nil, err
	}
	return scaled.Start(name, p, s)
}
