package quantized

import (
	"matladder/kernels/scaled"
	"matladder/problem"
	"matladder/tile"
)

// fused is the variant that quantizes a in the product's own program, rows once for all j.
const fused = "fused"

// fusedK bounds the k of which one block can hold all.
const fusedK = 8192

func variants(p problem.Matmul) []string {
	s, err := p.Scheme()
	if err == nil && s.Dynamic && s.A == problem.Token && p.K <= fusedK {
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
	s.K = p.K
	t := scaled.Begin(name, scaled.Quantized(p), scheme, s)
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Arbitrary)
	zero := tile.Const(0)

	t.Fused = true
	a := t.In("a", p.A, t.Array(p.M, p.K), t.Block(s.M, s.K).At(i, zero))
	b := t.In("b", p.B, t.Array(p.K, p.N), t.Block(s.K, s.N).At(zero, j))
	q := t.Quantization(i, j)
	o := t.Out("o", p.Out, t.Array(p.M, p.N), t.Block(s.M, s.N).At(i, j))
	qa := t.Scratch("qa", t.P.A, s.M, s.K)
	acc := t.Scratch("acc", p.Acc, s.M, s.N)

	t.When(j.First(), func() {
		x := tile.Cast(a, tile.Float32)
		if in := scaled.Inside(a); in != nil {
			x = tile.Select(in, x, tile.Number(0))
		}
		t.RowSteps(q.SA, q.ZA, t.P.A, x)
		t.Store(qa, t.CodesOf(x, q.SA, q.ZA, t.P.A))
		if q.SumsA != nil {
			t.Store(q.SumsA, q.SumOfRows(qa, nil))
		}
	})
	t.Fill(acc, 0)
	t.Accumulate(acc, q.Dot(qa, b))
	t.Store(o, tile.Cast(q.Scaled(acc), p.Out))
	return t.Programs()
}
