// Package scores has what all rungs of attention share: the arrays as blocks, the scores
// of a block of rows with a block of keys, and which of them are seen. The rungs differ in
// what they do with these, block after block.
//
// Scores are in units of log₂: what stands behind softmax's e^x is 2^(x · log₂e), and the
// factor goes into the scale. What is not seen has the score -Inf, so that its power is
// exactly 0; the largest score that a row knows of begins at Least, so that the difference
// of the two is never that of infinities.
package scores

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Least is the lowest float32: -Inf alone is below it. What scores are subtracted from is never
// less, so that no difference is that of two infinities, and a row that sees nothing adds up to 0.
const Least = -math.MaxFloat32

// At says which blocks a program sees.
type At struct {
	Batch, Head tile.IndexExpr // of q
	Row, Key    tile.IndexExpr // in blocks
	BQ, BK      int            // rows and keys of a block
	Piece       int            // keys that its rows meet at once; 0 for all
	// Listed says that a table tells which rows: what passes from one program to the next
	// may then hold nothing of rows beyond the array, and these are hidden too.
	Listed bool
	// Stacked says that the block has one row, Row, of the BQ heads that share one of k and v
	// above each other; Head is the shared one.
	Stacked bool
}

// Refs are the arrays of a problem as the blocks that a program sees.
type Refs struct {
	Q, K, V, O *tile.Ref

	p        problem.Attention
	at       At
	t        *tile.Builder
	bias     *tile.Ref
	sinks    *tile.Ref
	segments [2]*tile.Ref // of rows and of keys
	lengths  *tile.Ref
	pages    *tile.Ref
	lse      *tile.Ref
	turnedQ  *turned // nil where q stays as it is (rope.go)
	turnedK  *turned

	from  tile.IndexExpr // where the piece of the block's keys begins (pieces.go)
	piece int            // and how many they are; 0 for all
}

// New returns the refs of p at blocks, none of them declared.
func New(t *tile.Builder, p problem.Attention, at At) *Refs { return &Refs{t: t, p: p, at: at} }

// All declares every array of p.
func All(t *tile.Builder, p problem.Attention, at At) *Refs {
	r := New(t, p, at)
	r.Declare()
	return r
}

// Declare declares every array.
func (r *Refs) Declare() {
	r.Products()
	r.Values()
	r.Outputs()
}

var zero = tile.Const(0)

func (r *Refs) kvHead() tile.IndexExpr {
	if r.at.Stacked {
		return r.at.Head
	}
	return tile.FloorDiv(r.at.Head, r.p.Group())
}

// rows is the block of rows of an array of all heads and rows, so many of its columns at c.
func (r *Refs) rows(cols int, c tile.IndexExpr) tile.BlockSpec {
	at := r.at
	if at.Stacked {
		return tile.Block(tile.Squeezed, at.BQ, tile.Squeezed, cols).At(at.Batch, at.Head, at.Row, c)
	}
	return tile.Block(tile.Squeezed, tile.Squeezed, at.BQ, cols).At(at.Batch, at.Head, at.Row, c)
}

// tall is how many rows of the arrays a block has.
func (r *Refs) tall() int {
	if r.at.Stacked {
		return 1
	}
	return r.at.BQ
}

// Products declares what scores are made of.
func (r *Refs) Products() {
	p, at := r.p, r.at
	r.tables()
	r.Q = r.t.In("q", p.Dtype, tile.Array(p.Batch, p.Heads, p.Rows, p.Dim), r.rows(p.Dim, zero))
	r.K = r.perKey("k", p.Dim)
	r.turnings()
	if p.Bias {
		r.bias = r.t.In("bias", tile.Float32, tile.Array(p.Batch, p.Heads, p.Rows, p.Keys), r.rows(at.BK, at.Key))
	}
	if p.Segments {
		r.ofSegments()
	}
}

// tables declares those that say where keys are, once.
func (r *Refs) tables() {
	p := r.p
	if p.Lengths && r.lengths == nil {
		r.lengths = r.t.Table("lengths", 2*p.Batch)
	}
	if p.PageSize > 0 && r.pages == nil {
		r.pages = r.t.Table("pages", p.Batch*p.PagesEach())
	}
}

// Values declares v, or what clearing wrote of it.
func (r *Refs) Values() {
	r.tables()
	if r.p.Segments {
		r.V = r.t.In(cleared, r.p.Dtype, r.dense(r.p.ValueDim), r.ofKeys(r.p.ValueDim))
		return
	}
	r.V = r.perKey("v", r.p.ValueDim)
}

// ofSegments declares which segment rows have, and keys.
func (r *Refs) ofSegments() {
	p, at := r.p, r.at
	r.segments[0] = r.t.In("row_segment", tile.Int32, tile.Array(p.Batch, p.Rows, 1), tile.Block(tile.Squeezed, r.tall(), 1).At(at.Batch, at.Row, zero))
	r.segments[1] = r.t.In("key_segment", tile.Int32, tile.Array(p.Batch, 1, p.Keys), tile.Block(tile.Squeezed, 1, at.BK).At(at.Batch, zero, at.Key))
}

// dense is an array of so many columns for each key, those of an example one after another, and
// ofKeys the block of it.
func (r *Refs) dense(cols int) tile.ArrayShape {
	return tile.Array(r.p.Batch, r.p.KVHeads, r.p.Keys, cols)
}

func (r *Refs) ofKeys(cols int) tile.BlockSpec {
	return tile.Block(tile.Squeezed, tile.Squeezed, r.at.BK, cols).At(r.at.Batch, r.kvHead(), r.at.Key, zero)
}

// perKey declares an array of a row for each key: those of an example one after another, or in
// pages.
func (r *Refs) perKey(name string, cols int) *tile.Ref {
	p, at := r.p, r.at
	if p.PageSize == 0 {
		return r.t.In(name, p.Dtype, r.dense(cols), r.ofKeys(cols))
	}
	each := p.PageSize / at.BK // blocks of a page
	page := r.pages.At(tile.Plus(tile.Times(at.Batch, p.PagesEach()), tile.FloorDiv(at.Key, each)))
	return r.t.In(name, p.Dtype, tile.Array(p.KVHeads, p.PageCount(), p.PageSize, cols), tile.Block(tile.Squeezed, tile.Squeezed, at.BK, cols).At(r.kvHead(), page, tile.Mod(at.Key, each), zero))
}

// Outputs declares o, and what sums of rows are told by.
func (r *Refs) Outputs() {
	p := r.p
	r.O = r.t.Out("o", p.Dtype, tile.Array(p.Batch, p.Heads, p.Rows, p.ValueDim), r.rows(p.ValueDim, zero))
	r.Sums()
}

// Sums declares what a row's sum begins with and where its logarithm goes.
func (r *Refs) Sums() {
	p, at := r.p, r.at
	if p.Sinks {
		heads := tile.Block(tile.Squeezed, 1, 1)
		if at.Stacked {
			heads = tile.Block(at.BQ, tile.Squeezed, 1)
		}
		r.sinks = r.t.In("sinks", tile.Float32, tile.Array(p.Heads, 1, 1), heads.At(at.Head, zero, zero))
	}
	if p.LogSums {
		r.lse = r.t.Out("lse", tile.Float32, tile.Array(p.Batch, p.Heads, p.Rows, 1), r.rows(1, zero))
	}
}

// natural reports whether scores are powers of e. Others are powers of two, which cost a product
// less; but a bias may be as low as a float32 is, and with 1.44 times that would hide a key.
func (r *Refs) natural() bool { return r.p.Bias && r.p.SoftCap == 0 }

// unit is what a score is multiplied by, so that Power takes it.
func (r *Refs) unit() float64 {
	if r.natural() {
		return 1
	}
	return math.Log2E
}

// Power is the exponential of a difference of scores.
func (r *Refs) Power(x tile.Value) *tile.Expr {
	if r.natural() {
		return tile.Exp(x)
	}
	return tile.Exp2(x)
}

// Scores are those of the block of rows with the block of keys, all of them.
func (r *Refs) Scores() *tile.Expr {
	dot, scale := r.products(), r.p.Scaled()
	if !r.p.Bias && r.p.SoftCap == 0 {
		if float32(scale*math.Log2E) == 1 { // who brings q has multiplied it
			return dot
		}
		return tile.Mul(dot, tile.Number(scale*math.Log2E))
	}
	s := tile.Mul(dot, tile.Number(scale))
	if r.p.Bias {
		s = tile.Add(s, r.keys(r.bias, 1))
	}
	if c := r.p.SoftCap; c > 0 {
		return tile.Mul(tile.Tanh(tile.Mul(s, tile.Number(1/c))), tile.Number(c*r.unit()))
	}
	return s
}

// Whole are the Scores of a block of which every key inside the array is seen.
func (r *Refs) Whole() *tile.Expr { return r.where(r.inside()) }

// Seen are the Scores, -Inf of those that are not seen.
func (r *Refs) Seen() *tile.Expr { return r.where(append(r.inside(), r.visible()...)) }

// where are the Scores where all of conds hold, -Inf elsewhere.
func (r *Refs) where(conds []tile.Value) *tile.Expr {
	if len(conds) == 0 {
		return r.Scores()
	}
	return tile.Select(all(conds), r.Scores(), tile.Number(math.Inf(-1)))
}

// all holds where each of conds does.
func all(conds []tile.Value) tile.Value {
	x := conds[0]
	for _, c := range conds[1:] {
		x = tile.And(x, c)
	}
	return x
}

// numbers are how many keys are met at once, and the number of the first, negative.
func (r *Refs) numbers() (keys int, first tile.IndexExpr) {
	keys, first = r.at.BK, tile.Times(r.at.Key, -r.at.BK)
	if r.piece > 0 {
		keys, first = r.piece, tile.Plus(first, tile.Times(r.from, -1))
	}
	return keys, first
}

// inside is which rows and keys are in their arrays, and of a page those that an example has.
func (r *Refs) inside() (conds []tile.Value) {
	if x, dim := r.ragged(); x != nil {
		conds = append(conds, r.keys(tile.InBoundsRow(x, dim), 1))
	} else if p := r.p; p.PageSize > 0 && p.Keys%p.PageSize > 0 && !p.Lengths {
		keys, first := r.numbers()
		conds = append(conds, tile.Compare(tile.Iota(1, 1, keys), tile.LT, tile.IndexValue(tile.Plus(first, tile.Const(p.Keys)))))
	}
	if r.at.Listed && r.Q.Partial(0) {
		conds = append(conds, tile.InBounds(r.Q, 0))
	}
	return conds
}

// ragged is an array that ends within a block, and its dimension of keys; nil if none does.
func (r *Refs) ragged() (x *tile.Ref, dim int) {
	cos := (*tile.Ref)(nil)
	if r.turnedK != nil {
		cos = r.turnedK.cos
	}
	dims := []int{0, 0, 1, 1}
	for i, x := range []*tile.Ref{r.K, cos, r.bias, r.segments[1]} {
		if x != nil && x.Partial(dims[i]) {
			return x, dims[i]
		}
	}
	return nil, 0
}

// visible is which of the scores are seen.
func (r *Refs) visible() (conds []tile.Value) {
	and := func(x tile.Value) { conds = append(conds, x) }
	keys, firstKey := r.numbers()
	row, key := tile.Iota(0, r.at.BQ, keys), tile.Iota(1, r.at.BQ, keys)
	if r.at.Stacked {
		row = tile.Mul(row, tile.Number(0))
	}
	firstRow := tile.Times(r.at.Row, -r.tall())
	// key − row, from the block's corner on, against what is left of the span there.
	corner := tile.Plus(firstKey, tile.Times(r.at.Row, r.tall()))
	if r.p.AtEnd && r.p.Lengths {
		corner = tile.Plus(corner, tile.Plus(r.length(1), tile.Times(r.length(0), -1)))
	}
	lo, hi := r.p.Span()
	if hi < r.p.Keys {
		and(tile.Compare(tile.Sub(key, row), tile.LE, tile.IndexValue(tile.Plus(corner, tile.Const(hi)))))
	}
	if lo > -r.p.Rows-r.p.Keys {
		and(tile.Compare(tile.Sub(key, row), tile.GE, tile.IndexValue(tile.Plus(corner, tile.Const(lo)))))
	}
	if r.p.Segments {
		and(tile.Compare(r.segments[0], tile.EQ, r.keys(r.segments[1], 1)))
	}
	if r.p.Lengths {
		and(tile.Compare(row, tile.LT, tile.IndexValue(tile.Plus(r.length(0), firstRow))))
		and(tile.Compare(key, tile.LT, tile.IndexValue(tile.Plus(r.length(1), firstKey))))
	}
	return conds
}

// Until is the last block of keys of a range, as far as the example has keys. It comes before
// Products, and Key of At after it, by See.
func (r *Refs) Until(last tile.IndexExpr) tile.IndexExpr {
	if !r.p.Lengths {
		return last
	}
	r.tables()
	return tile.AtMost(last, tile.FloorDiv(tile.Plus(r.length(1), tile.Const(-1)), r.at.BK))
}

// See says which block of keys a program sees, where At has not.
func (r *Refs) See(key tile.IndexExpr) { r.at.Key = key }

// length is how many rows (0) or keys (1) the example has.
func (r *Refs) length(which int) tile.IndexExpr {
	if !r.p.Lengths {
		return tile.Const([]int{r.p.Rows, r.p.Keys}[which])
	}
	return r.lengths.At(tile.Plus(tile.Times(r.at.Batch, 2), tile.Const(which)))
}

// Begin sets the largest score that rows know of, and their sums, to those of no key.
func (r *Refs) Begin(top, sum *tile.Ref) {
	if !r.p.Sinks {
		r.t.Fill(top, Least)
		r.t.Fill(sum, 0)
		return
	}
	sink := tile.Mul(r.sinks, tile.Number(r.unit()))
	r.t.Store(top, tile.Max(sink, tile.Number(Least)))
	r.t.Store(sum, r.Power(tile.Sub(sink, top)))
}

// Divided is v by the sums of rows; v is 0 where a sum is.
func (r *Refs) Divided(v tile.Value, sum *tile.Ref) *tile.Expr {
	return tile.Cast(tile.Div(v, tile.Max(sum, tile.Number(1e-30))), r.p.Dtype)
}

// End writes the logarithms of sums, where they are asked for.
func (r *Refs) End(top, sum *tile.Ref) {
	if r.p.LogSums {
		log := tile.Add(tile.Mul(top, tile.Number(1/r.unit())), tile.Log(sum))
		r.t.Store(r.lse, tile.Select(tile.Compare(sum, tile.GT, tile.Number(0)), log, tile.Number(math.Inf(-1))))
	}
}
