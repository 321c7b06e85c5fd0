package check

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

func init() {
	Register(problem.AttentionFamily, Family{
		Fill: func(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
			if err := fillAttention(ctx, t, name, p.(problem.Attention), seed, dist); err != nil {
				return err
			}
			return hide(ctx, t, name, p.(problem.Attention), seed)
		},
		Reference: func(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, _ uint64, _ string) (Verifier, error) {
			return newAttentionReference(ctx, p.(problem.Attention), in)
		},
	})
}

// fillAttention makes q twelve times as large as the distribution says, so that a few keys
// decide a row: a mean of many is near zero, where errors hide behind rounding. Segments
// are parts of the sequence, three of the rows and four of the keys. Pages are in no order;
// where they are too few examples share them.
func fillAttention(ctx context.Context, t tile.Tensor, name string, p problem.Attention, seed uint64, dist string) error {
	switch name {
	case "row_segment":
		return setEach(ctx, t, func(i int) float64 { return float64(segmentAt(i%p.Rows, p.Rows, rowSegments)) })
	case "key_segment":
		return setEach(ctx, t, func(i int) float64 { return float64(segmentAt(i%p.Keys, p.Keys, keySegments)) })
	case "lengths":
		for b := range p.Batch {
			rows, keys := p.LengthsOf(b)
			t.Set(2*b, float64(rows))
			t.Set(2*b+1, float64(keys))
		}
		return nil
	case "row_cos", "row_sin", "key_cos", "key_sin":
		return fillCache(ctx, t, name, p)
	case "pages":
		page := pagesOf(p, seed)
		return setEach(ctx, t, func(i int) float64 { return float64(page(i)) })
	}
	if err := FillPlain(ctx, t, name, p, seed, dist); err != nil || name != "q" || dist == Integers {
		return err
	}
	return setEach(ctx, t, func(i int) float64 { return 12 * t.At(i) })
}

// segmentAt is which of n segments element i of size is of, and segmentRange which elements one has.
func segmentAt(i, size, n int) int { return i * n / size }

func segmentRange(s, size, n int) (from, to int) {
	return tile.Ceil(s*size, n), tile.Ceil((s+1)*size, n)
}

// The parts of rows and of keys that have a segment each.
const rowSegments, keySegments = 3, 4

// hide sets elements that no row sees to NaN.
func hide(ctx context.Context, t tile.Tensor, name string, p problem.Attention, seed uint64) error {
	if !p.Lengths && !p.Causal && !p.Window && !p.Segments && p.PageSize == 0 {
		return nil
	}
	n := t.Shape[len(t.Shape)-1]
	anyOf := func(sees func(b int) bool) bool {
		for b := range p.Batch {
			if sees(b) {
				return true
			}
		}
		return false
	}
	var seen func(e int) bool // element
	switch name {
	case "q":
		seen = func(e int) bool { return rowSees(p, e/n/p.Rows/p.Heads, e/n%p.Rows) }
	case "k", "v":
		if p.PageSize > 0 {
			slots := make([]bool, p.PageCount()*p.PageSize)
			page := pagesOf(p, seed)
			for b := range p.Batch {
				for j := range p.Keys {
					at := page(b*p.PagesEach()+j/p.PageSize)*p.PageSize + j%p.PageSize
					slots[at] = slots[at] || keySeen(p, b, j)
				}
			}
			seen = func(e int) bool { return slots[e/n%len(slots)] }
			break
		}
		seen = func(e int) bool { return keySeen(p, e/n/p.Keys/p.KVHeads, e/n%p.Keys) }
	case "bias":
		seen = func(e int) bool {
			first, last := keysOf(p, e/n/p.Rows/p.Heads, e/n%p.Rows)
			return e%n >= first && e%n < last
		}
	case "row_cos", "row_sin":
		seen = func(e int) bool {
			return anyOf(func(b int) bool { return b%p.RowTables() == e/n/p.Rows && rowSees(p, b, e/n%p.Rows) })
		}
	case "key_cos", "key_sin":
		seen = func(e int) bool { return anyOf(func(b int) bool { return keySeen(p, b, e/n) }) }
	default:
		return nil
	}
	return setEach(ctx, t, func(e int) float64 {
		if seen(e) {
			return t.At(e)
		}
		return math.NaN()
	})
}

// keysOf are the keys, from first to before last, that row i of example b sees.
func keysOf(p problem.Attention, b, i int) (first, last int) {
	rows, keys := p.LengthsOf(b)
	if i >= rows {
		return 0, 0
	}
	lo, hi := p.SpanOf(rows, keys)
	first, last = max(0, i+lo), min(keys, i+hi+1)
	if p.Segments {
		from, to := segmentRange(segmentAt(i, p.Rows, rowSegments), p.Keys, keySegments)
		first, last = max(first, from), min(last, to)
	}
	return first, last
}

func rowSees(p problem.Attention, b, i int) bool {
	first, last := keysOf(p, b, i)
	return first < last
}

// keySeen reports whether some row of example b sees key j.
func keySeen(p problem.Attention, b, j int) bool {
	rows, keys := p.LengthsOf(b)
	lo, hi := p.SpanOf(rows, keys)
	first, last := max(0, j-hi), min(rows, j-lo+1)
	if p.Segments {
		from, to := segmentRange(segmentAt(j, p.Keys, keySegments), p.Rows, rowSegments)
		first, last = max(first, from), min(last, to)
	}
	return j < keys && first < last
}

// pagesOf is the page that each element of the table names.
func pagesOf(p problem.Attention, seed uint64) func(i int) int {
	order := rand.New(rand.NewPCG(seed, startOf("pages", seed))).Perm(p.PageCount())
	return func(i int) int { return order[i%len(order)] }
}

// attentionReference has what float64 makes of some rows of o: of all if that is little
// work, else of a sample that is spread over them and includes the last ones.
type attentionReference struct {
	p       problem.Attention
	rows    []int       // of batch × heads × rows
	want    [][]float64 // by row, o
	sizes   [][]float64 // by row, Σ probability · |v|: what errors of probabilities are relative to
	spread  []float64   // by row, the largest Σ |q · k| · scale of a score: what errors of scores are relative to
	doubt   []float64   // by row, by how much a score may differ as what is turned may be rounded otherwise
	largest float64     // of v: no element of o is larger
	off     float64
}

// sampledWork is up to how many multiplications the reference makes.
const sampledWork = 1 << 28

func newAttentionReference(ctx context.Context, p problem.Attention, in map[string]tile.Tensor) (*attentionReference, error) {
	x := &attentionReference{p: p}
	all := p.Batch * p.Heads * p.Rows
	n := min(all, max(64, sampledWork/(p.Keys*(p.Dim+p.ValueDim))))
	for i := range n {
		x.rows = append(x.rows, all-1-int(int64(i)*int64(all)/int64(n)))
	}
	values := in["v"]
	for i := range values.Len() {
		if v := math.Abs(values.At(i)); v > x.largest { // those that no row sees are NaN
			x.largest = v
		}
	}
	x.want, x.sizes, x.spread, x.doubt = make([][]float64, n), make([][]float64, n), make([]float64, n), make([]float64, n)
	cache := newRopeCache(p)
	workers := runtime.GOMAXPROCS(0)
	return x, parallel(ctx, workers, func(w, _ int) { // rows in turn, as some see more keys than others
		turns := cache.own()
		for i := w; i < n && ctx.Err() == nil; i += workers {
			x.want[i], x.sizes[i], x.spread[i], x.doubt[i] = attentionRow(p, in, turns, x.rows[i])
		}
	})
}

// attentionRow is one row of o in float64, in two passes over the keys, with what errors
// are relative to.
func attentionRow(p problem.Attention, in map[string]tile.Tensor, turns *ropeTurns, row int) (want, sizes []float64, spread, doubt float64) {
	i, h, b := row%p.Rows, row/p.Rows%p.Heads, row/p.Rows/p.Heads
	rows, keys := p.Rows, p.Keys
	if p.Lengths {
		rows, keys = int(in["lengths"].At(2*b)), int(in["lengths"].At(2*b+1))
	}
	lo, hi := p.SpanOf(rows, keys)
	place := func(j int) int { // of key j in k and v
		if p.PageSize == 0 {
			return (b*p.KVHeads+h/p.Group())*p.Keys + j
		}
		page := int(in["pages"].At(b*p.PagesEach() + j/p.PageSize))
		return (h/p.Group()*p.PageCount()+page)*p.PageSize + j%p.PageSize
	}
	rowSegment, keySegment, bias := in["row_segment"], in["key_segment"], in["bias"]
	q, k, scale := make([]float64, p.Dim), make([]float64, p.Dim), p.Scaled()
	in["q"].Decode(q, row*p.Dim, 1)
	qDoubt := turns.row(q, rows, keys, i)
	s := make([]float64, p.Keys)
	largest := math.Inf(-1)
	for j := range s {
		s[j] = math.Inf(-1)
		if i >= rows || j >= keys || j-i < lo || j-i > hi || p.Segments && rowSegment.At(b*p.Rows+i) != keySegment.At(b*p.Keys+j) {
			continue
		}
		dot, size := 0.0, 0.0
		in["k"].Decode(k, place(j)*p.Dim, 1)
		kDoubt := turns.key(k, b*p.KVHeads+h/p.Group(), j)
		for d := range q {
			x := q[d] * k[d]
			dot += x
			size += math.Abs(x)
		}
		if turns != nil {
			doubt = max(doubt, math.Abs(scale)*doubtOf(q, qDoubt, k, kDoubt))
		}
		s[j] = dot * scale
		if p.Bias {
			s[j] += bias.At(row*p.Keys + j)
		}
		if p.SoftCap > 0 {
			s[j] = p.SoftCap * math.Tanh(s[j]/p.SoftCap)
		}
		largest, spread = max(largest, s[j]), max(spread, size*math.Abs(scale)+math.Abs(s[j]))
	}
	sink := math.Inf(-1)
	if p.Sinks {
		sink = in["sinks"].At(h)
	}
	if largest = max(largest, sink); math.IsInf(largest, -1) {
		largest = 0
	}
	sum := math.Exp(sink - largest)
	for j := range s {
		s[j] = math.Exp(s[j] - largest)
		sum += s[j]
	}
	want, sizes = make([]float64, p.ValueDim), make([]float64, p.ValueDim)
	if sum == 0 {
		return want, sizes, spread, doubt
	}
	v := make([]float64, p.ValueDim)
	for j, w := range s {
		if w == 0 {
			continue
		}
		in["v"].Decode(v, place(j)*p.ValueDim, 1)
		for d := range want {
			x := w / sum * v[d]
			want[d] += x
			sizes[d] += math.Abs(x)
		}
	}
	return want, sizes, spread, doubt
}

// ProductsOff is Verifier's.
func (x *attentionReference) ProductsOff(part float64) { x.off = part }

// Verify is Verifier's. Beside the rows of the reference it looks at every element: none is
// larger than the largest of v, which a mean of them cannot be.
func (x *attentionReference) Verify(ctx context.Context, _ []*tile.Program, _, outputs map[string]tile.Tensor) (Result, error) {
	out, result, n := outputs["o"], Result{OK: true}, x.p.ValueDim
	// Products of float32 are rounded once an addition; the errors are random, and so
	// grow as the root of their number, with room for four times that.
	scores := tile.Float32.Epsilon()*4*(2+math.Sqrt(float64(x.p.Dim))) + x.off
	sums := tile.Float32.Epsilon()*4*(2+math.Sqrt(float64(x.p.Keys))) + x.off
	for i := range out.Len() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return result, ctx.Err()
		}
		if v := math.Abs(out.At(i)); !(v <= x.largest*(1+2*sums+4*x.p.Dtype.Epsilon())) {
			result.note(math.Inf(1), func() string {
				return fmt.Sprintf("o[%d, %d]: %v, and no element of v is larger than %v", i/n, i%n, out.At(i), x.largest)
			})
		}
	}
	var errors quant.Sum
	for at, row := range x.rows {
		for d, want := range x.want[at] {
			got := out.At(row*n + d)
			size := x.sizes[at][d]
			bound := size*(2*scores*(1+x.spread[at])+sums+math.Expm1(2*x.doubt[at])) + (size+math.Abs(want))*3*x.p.Dtype.Epsilon() + 1e-30
			errors.Add(got, want)
			result.note(math.Abs(got-want)/bound, func() string { return fmt.Sprintf("o[%d, %d]: %v, want %v ± %v", row, d, got, want, bound) })
		}
	}
	result.RelErr = errors.Error().Rel
	return result, nil
}
