package problem

import (
	"cmp"
	"fmt"
	"math"

	"matladder/tile"
)

// Attention asks for softmax(scale · q kᵀ + bias) v, head by head, over the keys that each
// row of q sees:
//
//	q (Batch, Heads, Rows, Dim), k (Batch, KVHeads, Keys, Dim), v (Batch, KVHeads, Keys, ValueDim)
//	o (Batch, Heads, Rows, ValueDim)
//
// Heads/KVHeads heads of q share one of k and v. A row that sees no key is 0, and its
// log-sum -Inf, with a sink of -Inf, too.
//
// What no row of an example sees may be anything, NaN included, and reaches no output: what
// is beyond its Lengths, slots of pages without a key of any example, keys before every
// window or behind the last one, those of a segment that no row has. What some rows see reaches
// these, and k and a bias of a key reach no row that does not see it. NaN or infinity in its v
// may reach other rows, as in PyTorch and JAX: their weight there is 0, and the product NaN. So
// it is with a bias of -Inf, which is data, even if all rows have it.
//
// Where there are fewer or more rows than keys, row i and key j stand beside each other
// where j = i (PyTorch's is_causal, JAX's causal) or, with AtEnd, where the last row and
// the last key do, so that j = i + Keys − Rows (flash-attention from 2.1 on; a chunk of new
// rows behind older keys). A causal row sees the keys up to the one beside it; a window
// those from Left before it to Right behind it, both included.
//
// The order is that of tokamax: scale, bias, soft cap, then masks.
type Attention struct {
	Batch, Heads, KVHeads int
	Rows, Keys            int
	Dim, ValueDim         int
	Dtype                 tile.Dtype // of q, k, v and o: float32 or bfloat16
	Scale                 float64    // 0 for 1/√Dim

	Causal      bool
	Window      bool
	Left, Right int // of a window; less than 0 for no end
	AtEnd       bool

	SoftCap  float64 // scores are SoftCap · tanh(score / SoftCap); 0 for none
	Bias     bool    // bias (Batch, Heads, Rows, Keys), float32, added after the scale; -Inf hides a key, and a large finite number on all keys of a row leaves their mean
	Sinks    bool    // sinks (Heads, 1, 1), float32: one more score of each row, of a key without value; those below -2.3e38 may count as -Inf
	Segments bool    // row_segment (Batch, Rows, 1) and key_segment (Batch, 1, Keys), int32: a row sees keys of its own
	Lengths  bool    // lengths (2 · Batch), a table: of each example its rows, then its keys; what is beyond sees nothing, and is not seen
	// PageSize, where it is not 0, is how many keys lie beside each other: k and v are in
	// PageCount pages (KVHeads, PageCount, PageSize, Dim), and of each example pages, a table
	// (Batch · PagesEach), names those with its keys, in order. Examples may share pages,
	// and pages behind the keys that Lengths tells may be any. Pages is how many there are, 0
	// for as many as examples have at most.
	PageSize, Pages int

	// Rope says which of q and k are turned before they are multiplied, by Rotation: as a Rope of
	// each would, rounding included. A key's position is its number, and a row's that of the
	// key beside it; At is that of the first key. The cache of cosines and sines comes as
	// float32 tables, of rows row_cos and row_sin (RowTables, Rows, Turned/2), of keys key_cos
	// and key_sin (Keys, Turned/2).
	Rope     Turned
	Rotation Rotation

	LogSums bool // lse (Batch, Heads, Rows, 1), float32: the logarithm of the sum of exponentials; -Inf of a row that sees nothing
}

// Turned says which of q and k are turned.
type Turned string

// The choices.
const (
	TurnedNone Turned = ""
	TurnedBoth Turned = "rope"
	TurnedRows Turned = "ropeq" // q alone: keys were turned when they came into their cache
)

// RopeOfRows asks for q turned, of an example of so many rows and keys: its first row has the
// position of the key beside it.
func (p Attention) RopeOfRows(rows, keys int) Rope {
	r := Rope{Batch: p.Batch, Heads: p.Heads, Rows: p.Rows, Dim: p.Dim, Dtype: p.Dtype, Rotation: p.Rotation}
	if p.AtEnd {
		r.At += keys - rows
	}
	return r
}

// RopeOfKeys asks for k turned.
func (p Attention) RopeOfKeys() Rope {
	return Rope{Batch: p.Batch, Heads: p.KVHeads, Rows: p.Keys, Dim: p.Dim, Dtype: p.Dtype, Rotation: p.Rotation}
}

// RowTables is how many tables of rows there are: one, or with AtEnd and Lengths, which have
// rows of equal number stand at different positions, one for each example.
func (p Attention) RowTables() int {
	if p.AtEnd && p.Lengths {
		return p.Batch
	}
	return 1
}

// Self is plain attention of a length to itself: of one example and head, in dtype d.
func Self(length, dim int, d tile.Dtype) Attention {
	return Attention{Batch: 1, Heads: 1, KVHeads: 1, Rows: length, Keys: length, Dim: dim, ValueDim: dim, Dtype: d}
}

// PagesEach is how many pages an example has at most, of which keys may fill the last in
// part; 0 where there are none.
func (p Attention) PagesEach() int {
	if p.PageSize == 0 {
		return 0
	}
	return tile.Ceil(p.Keys, p.PageSize)
}

// PageCount is how many pages there are.
func (p Attention) PageCount() int {
	return cmp.Or(p.Pages, p.Batch*p.PagesEach())
}

// LengthsOf are the rows and keys that example b has where Lengths say, as sweeps fill them:
// all in the last, and half as much or more, in even steps, in those before it. A problem
// without Lengths has all of both.
func (p Attention) LengthsOf(b int) (rows, keys int) {
	if !p.Lengths {
		return p.Rows, p.Keys
	}
	part := func(n int) int { return tile.Ceil(n*(p.Batch+b+1), 2*p.Batch) }
	return part(p.Rows), part(p.Keys)
}

// Group is how many heads of q share one of k and v.
func (p Attention) Group() int { return p.Heads / p.KVHeads }

// Scaled is what products of q and k are multiplied by.
func (p Attention) Scaled() float64 {
	return cmp.Or(p.Scale, 1/math.Sqrt(float64(p.Dim)))
}

// unlimited is further than any window goes.
const unlimited = 1 << 30

// Span is how far a row sees: keys j with lo ≤ j − i ≤ hi, of row i, as far as causality
// and the window tell. Without them ends are beyond every key. With Lengths the row and
// the key of AtEnd are the last of each example, and Span leaves that shift out.
func (p Attention) Span() (lo, hi int) {
	if p.Lengths {
		return p.SpanOf(0, 0)
	}
	return p.SpanOf(p.Rows, p.Keys)
}

// KeyBlocks are the first and the last block of keys that block i of rows sees some of, none if
// last < first.
func (p Attention) KeyBlocks(i int, b tile.Blocks) (first, last int) {
	lo, hi := p.Span()
	blocks := tile.Ceil(p.Keys, b.K)
	first = int(tile.FloorDiv(tile.Const(i*b.M+lo), b.K).(tile.Const))
	last = int(tile.FloorDiv(tile.Const(i*b.M+b.M-1+hi), b.K).(tile.Const))
	return max(min(first, blocks), 0), max(min(last, blocks-1), -1)
}

// SpanOf is Span of an example of so many rows and keys, the shift of AtEnd included.
func (p Attention) SpanOf(rows, keys int) (lo, hi int) {
	lo, hi = -unlimited, unlimited
	if p.Window && p.Left >= 0 {
		lo = -p.Left
	}
	if p.Window && p.Right >= 0 {
		hi = p.Right
	}
	if p.Causal {
		hi = min(hi, 0)
	}
	if p.AtEnd {
		if lo != -unlimited {
			lo += keys - rows
		}
		if hi != unlimited {
			hi += keys - rows
		}
	}
	return lo, hi
}

// Visible counts the pairs of rows and keys of one head that causality and the window
// leave, of all examples together; with Lengths of those that a sweep gives.
func (p Attention) Visible() int64 {
	if !p.Lengths {
		return int64(p.Batch) * p.visibleOf(p.Rows, p.Keys)
	}
	n := int64(0)
	for b := range p.Batch {
		n += p.visibleOf(p.LengthsOf(b))
	}
	return n
}

// visibleOf is Visible of an example of so many rows and keys.
func (p Attention) visibleOf(rows, keys int) int64 {
	lo, hi := p.SpanOf(rows, keys)
	n := int64(0)
	for i := range rows {
		n += int64(max(0, min(keys-1, i+hi)-max(0, i+lo)+1))
	}
	return n
}

// FLOPs counts multiplications and additions of both products over visible pairs alone,
// the convention of flash-attention's benchmarks, and where q or k are turned those of each
// as a Rope, once.
func (p Attention) FLOPs() int64 {
	n := 2 * int64(p.Heads) * p.Visible() * int64(p.Dim+p.ValueDim)
	if p.Rope != TurnedNone {
		n += p.RopeOfRows(p.Rows, p.Keys).FLOPs()
	}
	if p.Rope == TurnedBoth {
		n += p.RopeOfKeys().FLOPs()
	}
	return n
}

// Validate returns an error if the problem makes no sense on any machine.
func (p Attention) Validate() error {
	for _, s := range []struct {
		name string
		n    int
	}{{"batch", p.Batch}, {"heads", p.Heads}, {"kv heads", p.KVHeads}, {"rows", p.Rows}, {"keys", p.Keys}, {"dim", p.Dim}, {"value dim", p.ValueDim}} {
		if s.n < 1 || s.n > 1<<24 {
			return fmt.Errorf("attention: %s = %d: want 1 … %d", s.name, s.n, 1<<24)
		}
	}
	switch {
	case p.Heads%p.KVHeads != 0:
		return fmt.Errorf("attention: %d heads of q cannot share %d of k and v evenly", p.Heads, p.KVHeads)
	case p.PageSize < 0 || p.PageSize == 0 && p.Pages != 0 || p.Pages < 0 || p.PageSize > 0 && p.PageCount() > 1<<24:
		return fmt.Errorf("attention: %d pages of %d keys: want up to %d pages of 1 key at least, or 0 of 0", p.PageCount(), p.PageSize, 1<<24)
	case p.Dtype != tile.Float32 && p.Dtype != tile.BFloat16:
		return fmt.Errorf("attention: %s: want float32 or bfloat16", p.Dtype)
	case p.SoftCap < 0 || math.IsNaN(p.SoftCap) || math.IsInf(p.SoftCap, 0):
		return fmt.Errorf("attention: soft cap %v: want a positive number, or 0 for none", p.SoftCap)
	case math.IsNaN(p.Scale) || math.IsInf(p.Scale, 0):
		return fmt.Errorf("attention: scale %v", p.Scale)
	case !p.Window && (p.Left != 0 || p.Right != 0):
		return fmt.Errorf("attention: ends of a window (%d, %d), and no window", p.Left, p.Right)
	}
	return p.validRope()
}

// validRope returns an error if q and k cannot be turned as p says.
func (p Attention) validRope() error {
	switch {
	case p.Rope != TurnedNone && p.Rope != TurnedBoth && p.Rope != TurnedRows:
		return fmt.Errorf("attention: rope %q: want %q, or %q for q alone", p.Rope, TurnedBoth, TurnedRows)
	case p.Rope == TurnedNone && p.Rotation != Rotation{}:
		return fmt.Errorf("attention: a rotation (%s), and no rope", p.Rotation.options())
	case p.Rope != TurnedNone:
		return p.RopeOfKeys().Validate()
	}
	return nil
}
