package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// fused is the variant that quantizes a in the product's own program: rows once for all
// j, groups of k of rows again for each.
const fused = "fused"

// fusedK bounds the k of which one block can hold all.
const fusedK = 8192

func variants(p problem.Matmul) []string {
	s, err := p.Scheme()
	if err == nil && s.Dynamic && (s.A == problem.TokenBlock || s.A == problem.Token && p.K <= fusedK) {
		return []string{"", fused}
	}
	return []string{""}
}

// buildFused writes one program with no axis k. Its j is Arbitrary: the codes of
// a row block stay in scratch from the first j to the last.
func buildFused(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	scheme, err := p.Scheme()
	if err != nil {
		return nil, err
	}
	if scheme.A == problem.TokenBlock {
		return buildFusedGroups(p, scheme, s)
	}
	s.K = p.K
	if s, err = wholeGroups(scheme, p, s); err != nil {
		return nil, err
	}
	t := begin("v5_quant", quantized(p), scheme, s)
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Arbitrary)
	zero := tile.Const(0)

	t.fused = true
	a := t.In("a", p.A, t.array(p.M, p.K), t.block(s.M, s.K).at(i, zero))
	b := t.In("b", p.B, t.array(p.K, p.N), t.block(s.K, s.N).at(zero, j))
	q := t.quantization(i, j, nil)
	o := t.Out("o", p.Out, t.array(p.M, p.N), t.block(s.M, s.N).at(i, j))
	qa := t.Scratch("qa", t.p.A, s.M, s.K)
	acc := t.Scratch("acc", q.accumulator, s.M, s.N)

	t.When(j.First(), func() {
		x := tile.Cast(a, tile.Float32)
		if in := inside(a); in != nil {
			x = tile.Select(in, x, tile.Number(0))
		}
		t.rowSteps(q.sa, q.za, t.p.A, x)
		t.Store(qa, codesOf(x, q.sa, q.za, t.p.A))
		if q.sumsA != nil {
			t.Store(q.sumsA, q.sumOfRows(qa, nil))
		}
	})
	t.Fill(acc, 0)
	t.accumulate(q, acc, qa, b)
	t.Store(o, tile.Cast(q.scaled(acc), p.Out))
	return t.Programs()
}

// buildFusedGroups writes the product of a that comes wide: each step quantizes one group
// of k, which is its block, and multiplies it. No codes are kept.
func buildFusedGroups(p problem.Matmul, scheme problem.Scheme, s tile.Blocks) ([]*tile.Program, error) {
	s.K = scheme.Block
	t := begin("v5_quant", quantized(p), scheme, s)
	t.fused = true
	return t.product("a", p.A)
}
