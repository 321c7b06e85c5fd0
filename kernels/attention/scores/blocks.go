package scores

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Range is the blocks of keys that a block of rows sees some of, as index expressions:
// first … last, none if last < first. Both are blocks of the array whatever the other is.
type Range struct {
	First, Last tile.IndexExpr
	Most        int // blocks, of any block of rows
}

// RangeOf follows from causality and the window of p: rows is a block of them.
func RangeOf(p problem.Attention, rows tile.IndexExpr, b tile.Blocks) Range {
	lo, hi := p.Span()
	blocks := tile.Ceil(p.Keys, b.K)
	x := Range{First: zero, Last: tile.Const(blocks - 1)}
	if p.Lengths && p.AtEnd {
		x.Most = blocks // where the span lies is data
		return x
	}
	if lo > -p.Rows {
		first := tile.FloorDiv(tile.Plus(tile.Times(rows, b.M), tile.Const(lo)), b.K)
		x.First = tile.AtLeast(tile.AtMost(first, tile.Const(blocks)), zero)
	}
	if hi < p.Keys {
		last := tile.FloorDiv(tile.Plus(tile.Times(rows, b.M), tile.Const(b.M-1+hi)), b.K)
		x.Last = tile.AtLeast(tile.AtMost(last, tile.Const(blocks-1)), tile.Const(-1))
	}
	for i := range tile.Ceil(p.Rows, b.M) {
		first, last := p.KeyBlocks(i, b)
		x.Most = max(x.Most, last-first+1)
	}
	x.Most = max(x.Most, 1)
	return x
}

// Beside returns why p is not for a rung whose keys have to lie beside each other in one
// array, or nil: keys in pages are refused.
func Beside(p problem.Attention) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.PageSize > 0 {
		return fmt.Errorf("attention: keys in pages: v4_skip looks them up, and v5_split for few rows")
	}
	return nil
}

// OfOnePage returns an error if blocks of keys are not of one page each, where keys are in pages.
func OfOnePage(p problem.Attention, b tile.Blocks) error {
	if p.PageSize > 0 && p.PageSize%b.K != 0 {
		return fmt.Errorf("bk = %d: blocks of keys are of one page: take one that divides %d", b.K, p.PageSize)
	}
	return nil
}

// Whole is the condition that a block of rows sees every key of a block that is in the
// array: nothing else of it then needs a mask. It never holds where data hides keys.
func Whole(p problem.Attention, rows, keys tile.IndexExpr, b tile.Blocks) tile.Cond {
	lo, hi := p.Span()
	if p.Segments || p.Lengths {
		return tile.Any()
	}
	end := tile.Plus(tile.Times(keys, b.K), tile.Const(b.K)) // of the block of keys
	var all []tile.Cond
	if hi < p.Keys {
		all = append(all, tile.Test(end, tile.LE, tile.Plus(tile.Times(rows, b.M), tile.Const(hi+1))))
	}
	if lo > -p.Rows-p.Keys {
		all = append(all, tile.Test(tile.Times(keys, b.K), tile.GE, tile.Plus(tile.Times(rows, b.M), tile.Const(b.M-1+lo))))
	}
	return tile.All(all...)
}

// Candidates are the shapes to sweep of a machine: those that a model of its cores says
// are fast or else, of chips that move blocks into fast memory, more rows for each byte of
// keys and values that is brought in, as far as that memory holds their scores.
//
// Of keys in pages a block has those of one.
func Candidates(p problem.Attention, m problem.Machine) []tile.Blocks {
	if p.PageSize > 0 {
		return problem.ClipAll(p, tile.Blocks{M: 128, K: p.PageSize}, tile.Blocks{M: 256, K: p.PageSize}, tile.Blocks{M: 512, K: p.PageSize})
	}
	if list := m.Cores.Rank(p, tile.Blocks{}); list != nil {
		return list
	}
	var out []tile.Blocks
	list := []tile.Blocks{{M: 128, K: 128}, {M: 256, K: 256}, {M: 512, K: 512}, {M: 1024, K: 1024}, {M: 2048, K: 1024}}
	if m.Pipeline != nil {
		list = append(list[:3], tile.Blocks{M: 1024, K: 1024, N: 512}, tile.Blocks{M: 2048, K: 1024, N: 512}, tile.Blocks{M: 2048, K: 2048, N: 512})
	}
	for _, b := range list {
		scores := 4 * int64(b.M) * int64(Piece(b))
		held := int64(b.M) * int64(4*p.ValueDim+2*(p.Dim+p.ValueDim)*p.Dtype.Bits()/8)
		moved := 2 * int64(b.K) * int64((p.Dim+p.ValueDim)*p.Dtype.Bits()/8)
		if m.FastBytes > 0 && len(out) > 0 && scores+held+moved > m.FastBytes {
			break
		}
		out = append(out, b)
	}
	return problem.ClipAll(p, out...)
}
