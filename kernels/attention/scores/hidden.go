package scores

import (
	"errors"

	"matladder/problem"
	"matladder/tile"
)

// A key that a row does not see has a power of 0 there, but 0 times NaN or infinity is NaN: where
// it counts is v. Of keys that no row of an example sees, v is taken as 0. Those are at the ends
// (what is beyond an example's lengths, or its part of a page, and what a window or causality
// leaves out for every row); with segments they may be anywhere. What k and a bias hold of keys that
// a row does not see goes nowhere: a select replaces those scores.

// Times is x v, of the probabilities of what Each met.
func (r *Refs) Times(x tile.Value) *tile.Expr {
	v := r.keys(r.V, 0)
	if seen := r.anySees(); seen != nil {
		if r.V.Partial(0) {
			seen = tile.And(seen, r.keys(tile.InBounds(r.V, 0), 0))
		}
		v = tile.Select(seen, v, tile.Number(0))
	}
	return tile.Dot(x, v)
}

// anySees is which keys are between the first and the last that a row of the example sees; nil if
// all of the array are.
func (r *Refs) anySees() tile.Value {
	if r.p.Segments {
		return nil // of cleared
	}
	n, first := r.numbers()
	key := tile.Iota(0, n, 1)
	from, to := r.ends()
	var seen tile.Value
	if from != zero {
		seen = tile.Compare(key, tile.GE, tile.IndexValue(tile.Plus(from, first)))
	}
	if p := r.p; to != tile.Const(p.Keys) || p.PageSize > 0 && p.Keys%p.PageSize > 0 {
		before := tile.Compare(key, tile.LT, tile.IndexValue(tile.Plus(to, first)))
		if seen == nil {
			return before
		}
		seen = tile.And(seen, before)
	}
	return seen
}

// ends are the first key that some row of the example sees, and the one behind the last.
func (r *Refs) ends() (from, to tile.IndexExpr) {
	p := r.p
	rows, keys := r.length(0), r.length(1)
	lo, hi := p.SpanOf(0, 0)
	from, to = zero, keys
	switch {
	case p.AtEnd && lo > -p.Rows-p.Keys:
		from = tile.AtLeast(tile.Plus(keys, tile.Plus(tile.Times(rows, -1), tile.Const(lo))), zero)
	case !p.AtEnd && hi < p.Keys:
		to = tile.AtMost(keys, tile.Plus(rows, tile.Const(hi)))
	}
	if p.Lengths { // an example may have no row at all
		to = tile.AtMost(to, tile.Times(tile.AtMost(rows, tile.Const(1)), p.Keys))
	}
	return from, to
}

// Programs are what was built of rungs, behind one that clears v where there are segments.
func Programs(p problem.Attention, built ...*tile.Builder) ([]*tile.Program, error) {
	if p.Segments {
		built = append([]*tile.Builder{clearing(p)}, built...)
	}
	var list []*tile.Program
	var errs []error
	for _, t := range built {
		programs, err := t.Programs()
		list, errs = append(list, programs...), append(errs, err)
	}
	return list, errors.Join(errs...)
}

// cleared is v, 0 of keys that no row sees.
const cleared = "v_seen"

// clearing writes cleared. A block of keys meets all rows first, which are counted by a product, as
// its sums are a column; then its part of each head of v is copied.
func clearing(p problem.Attention) *tile.Builder {
	bq, bk := min(p.Rows, 128), min(p.Keys, 128)
	if p.PageSize > 0 {
		for bk = p.PageSize; bk > 128 && bk%2 == 0; bk /= 2 {
		}
	}
	t, rows := tile.New(cleared), tile.Ceil(p.Rows, bq)
	b, j := t.Axis("b", p.Batch, tile.Parallel), t.Axis("j", tile.Ceil(p.Keys, bk), tile.Parallel)
	n := t.Axis("n", rows+p.KVHeads, tile.Arbitrary)
	i, head := tile.AtMost(n, tile.Const(rows-1)), tile.AtLeast(tile.Plus(n, tile.Const(-rows)), zero)
	r := New(t, p, At{Batch: b, Head: tile.Times(head, p.Group()), Row: i, Key: j, BQ: bq, BK: bk})
	r.tables()
	r.ofSegments()
	v, out := r.perKey("v", p.ValueDim), t.Out(cleared, p.Dtype, r.dense(p.ValueDim), r.ofKeys(p.ValueDim))
	sees, one := t.Scratch("sees", tile.Float32, bq, bk), t.Scratch("one", tile.Float32, bq, 1)
	count := t.Scratch("count", tile.Float32, bk, 1)

	t.When(n.First(), func() {
		t.Fill(one, 1)
		t.Fill(count, 0)
	})
	some := RangeOf(p, i, tile.Blocks{M: bq, K: bk})
	t.When(tile.All(tile.Test(n, tile.LT, tile.Const(rows)), tile.Test(j, tile.GE, some.First), tile.Test(j, tile.LE, some.Last)), func() {
		conds := append(r.inside(), r.visible()...)
		if r.segments[0].Partial(0) {
			conds = append(conds, tile.InBounds(r.segments[0], 0))
		}
		t.Store(sees, tile.Select(all(conds), tile.Number(1), tile.Number(0)))
		t.Accumulate(count, tile.Dot(sees, one, tile.TransA))
	})
	t.When(tile.Test(n, tile.GE, tile.Const(rows)), func() {
		t.Store(out, tile.Select(tile.Compare(count, tile.GT, tile.Number(0)), v, tile.Number(0)))
	})
	return t
}
