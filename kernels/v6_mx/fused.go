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
	if s, err := p.Scheme(); err == nil && s.Dynamic && s.A == problem.TokenBlock {
		return []string{"", fused}
	}
	return []string{""}
}

// buildFused writes the product of an a that comes wide: each step quantizes one group
// of k, which is its block, and multiplies it. No codes are kept.
func buildFused(p problem.Matmul, scheme problem.Scheme, s tile.Blocks) ([]*tile.Program, error) {
	s.K = scheme.Block
	t := scaled.Begin(name, scaled.Quantized(p), scheme, s)
	t.Fused = true
	return product(t, "a", p.A)
}
