// Package sparse is the fifth rung of attention: tables list the blocks of scores that are
// computed, so that the grid is as long as the list, and which they are is data.
package sparse

import (
	"matladder/kernels/attention/scores"
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes the listed blocks, and nothing for the others.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 5 }

// Name is the folder's.
func (Kernel) Name() string { return "v5_sparse" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Attention) error { return p.Validate() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Attention) []string { return []string{""} }

// Candidates has the sweep.
func (Kernel) Candidates(p problem.Attention, m tile.Machine) []tile.Blocks {
	return scores.Candidates(p, m)
}

// Build writes the kernel as a tile program; scores.ListOf makes its tables.
func (Kernel) Build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v5_sparse")
	most := scores.Most(p, s)
	blocks, rows, keys := t.Table("blocks", 1), t.Table("row_block", most), t.Table("key_block", most)
	kind, begins, ends := t.Table("kind", most), t.Table("begins", most), t.Table("ends", most)
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	n := t.BoundedAxis("n", most, tile.Arbitrary, blocks.At(tile.Const(0)))
	is := func(table *tile.Ref, x int) tile.Cond { return tile.Test(table.At(n), tile.EQ, tile.Const(x)) }

	r := scores.All(t, p, scores.At{Batch: b, Head: h, Row: rows.At(n), Key: keys.At(n), BQ: s.M, BK: s.K, Listed: true})
	x := t.Scratch("s", tile.Float32, s.M, s.K)
	acc := t.Scratch("acc", tile.Float32, s.M, p.ValueDim)
	top := t.Scratch("top", tile.Float32, s.M, 1)
	next := t.Scratch("next", tile.Float32, s.M, 1)
	sum := t.Scratch("sum", tile.Float32, s.M, 1)

	t.When(is(begins, 1), func() {
		r.Begin(top, sum)
		t.Fill(acc, 0)
	})
	step := func(scores *tile.Expr) {
		t.Store(x, scores)
		t.Store(next, tile.Max(top, tile.RowMax(x)))
		t.Store(x, tile.Exp2(tile.Sub(x, next)))
		shrink := tile.Exp2(tile.Sub(top, next))
		t.Store(sum, tile.Add(tile.Mul(sum, shrink), tile.RowSum(x)))
		t.Store(acc, tile.Add(tile.Mul(acc, shrink), tile.Dot(tile.Cast(x, p.Dtype), r.V)))
		t.Store(top, next)
	}
	t.When(is(kind, scores.Every), func() { step(r.Whole()) })
	t.When(is(kind, scores.Part), func() { step(r.Seen()) })
	t.When(is(ends, 1), func() {
		t.Store(r.O, r.Divided(acc, sum))
		r.End(top, sum)
	})
	return t.Programs()
}
