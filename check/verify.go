package check

import (
	"context"
	"fmt"
	"math"
	"slices"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

// Verify compares output o with the reference of the same inputs. programs say how
// often the result is rounded on its way.
func (r *Reference) Verify(ctx context.Context, programs []*tile.Program, in, outputs map[string]tile.Tensor) (Result, error) {
	p, out := r.p, outputs["o"]
	shape := []int{p.M, p.N}
	if p.Batch > 1 {
		shape = []int{p.Batch, p.M, p.N}
	}
	if !slices.Equal(out.Shape, shape) || out.Dtype != p.Out {
		return Result{}, fmt.Errorf("check: output is %s%v, want %s%v", out.Dtype, out.Shape, p.Out, shape)
	}
	if r.answers != nil {
		return r.verifyAnswers(ctx, programs, out)
	}
	v, err := r.verify(ctx, programs, in, out)
	res := Result{OK: v.OK, ErrOverBound: v.worst, RelErr: v.rounding.Error().Rel, Detail: v.Detail}
	if v.known {
		e := v.loss.Error()
		res.Quantized, res.QuantRelErr, res.QuantMaxErr, res.QuantSNRdB = true, e.Rel, e.Max, e.SNRdB
	}
	return res, err
}

// verdict is a Result in the making, of one product or of a batch.
type verdict struct {
	OK       bool
	Detail   string
	worst    float64   // largest error over bound
	rounding quant.Sum // against float64 on the same inputs
	loss     quant.Sum // against float64 on operands before they were quantized
	known    bool      // loss was measured
}

func (r *Reference) verify(ctx context.Context, programs []*tile.Program, in map[string]tile.Tensor, out tile.Tensor) (verdict, error) {
	if r.parts != nil {
		return r.verifyBatch(ctx, programs, in, out)
	}
	p := r.p
	ops, err := operandsOf(ctx, p, in)
	if err != nil {
		return verdict{}, err
	}
	step := roundingStep(programs, p)
	values, err := r.values(ctx, ops, step)
	if err != nil {
		return verdict{}, err
	}
	cells, err := r.cellValues(ctx, ops, step)
	if err != nil {
		return verdict{}, err
	}
	v, b := verdict{OK: true, known: r.meant != nil}, newBound(p, step).multiplied(r.products)
	r.compareRows(ctx, &v, values, b, ops.bias, out)
	if p.Activation == problem.NoActivation {
		r.compareProbes(ctx, &v, b, ops.bias, out)
	} else {
		r.compareCells(ctx, &v, cells, b, ops.bias, out)
		r.compareRange(ctx, &v, ops.bias, out)
	}
	if !v.OK && v.Detail == "" {
		v.Detail = fmt.Sprintf("error is %.3g times its bound", v.worst)
	}
	return v, ctx.Err()
}

// roundingStep returns every how many elements of k the running sum is rounded
// to the output's dtype: k itself if only the result is.
func roundingStep(programs []*tile.Program, p problem.Matmul) int {
	step := p.K
	for _, prog := range programs {
		prog.Walk(func(s *tile.Stmt) {
			if s.Kind != tile.Accumulate || s.Ref.Kind != tile.Out || s.Ref.Dtype == s.Value.Dtype {
				return
			}
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				if e.Op == tile.OpDot {
					step = min(step, e.Depth())
				}
			})
		})
	}
	return step
}

// compareRows compares the sampled rows element by element, until ctx ends.
func (r *Reference) compareRows(ctx context.Context, v *verdict, values *rowValues, b bound, bias []float64, out tile.Tensor) {
	n := r.p.N
	got := make([]float64, n)
	for i, row := range r.rows {
		if ctx.Err() != nil {
			return
		}
		out.Decode(got, row*n, 1)
		for j, g := range got {
			at := i*n + j
			v.rounding.Add(g, r.compare(v, values, at, b, bias[j], row, j, g))
			if r.meant != nil {
				v.loss.Add(g, r.meant[at])
			}
		}
	}
}

// compareCells compares the cells, until ctx ends.
func (r *Reference) compareCells(ctx context.Context, v *verdict, values *rowValues, b bound, bias []float64, out tile.Tensor) {
	got := make([]float64, 1)
	for _, c := range r.cells {
		if ctx.Err() != nil {
			return
		}
		for j, col := range c.cols {
			out.Decode(got, c.row*r.p.N+col, 1)
			r.compare(v, values, c.at+j, b, bias[col], c.row, col, got[0])
		}
	}
}

// compare compares element (row, col) of the output, which got is, with the value at at,
// and returns what it should be.
func (r *Reference) compare(v *verdict, values *rowValues, at int, b bound, bias float64, row, col int, got float64) (want float64) {
	want = values.sum[at]
	limit := b.element(want, values.sumAbs[at], values.cuts[at], math.Sqrt(values.cuts2[at]), math.Abs(bias)) + values.doubt[at]
	off := b.sum(want, values.sumAbs[at], math.Abs(bias)) + values.doubt[at] + b.absolute
	if b.exact {
		want = float64(int32(int64(want)))
	}
	if want += bias; !b.exact && r.p.Activation != problem.NoActivation {
		limit = activated(func(x float64) float64 { return activate(r.p.Activation, x) }, want, off, r.p.Out)
	}
	want = activate(r.p.Activation, want)
	e := math.Abs(got - want)
	if e == 0 || e/limit <= v.worst {
		return want
	}
	if v.worst = e / limit; !(v.worst >= 0) { // NaN: wrong, and worse than anything
		v.worst = math.Inf(1)
	}
	if !(e <= limit) {
		v.OK = false
		v.Detail = fmt.Sprintf("o[%d, %d] is %.9g, should be %.9g within %.2g", row, col, got, want, limit)
	}
	return want
}

// compareProbes compares random combinations of every row, to catch what is
// wrong outside the sampled rows, until ctx ends.
func (r *Reference) compareProbes(ctx context.Context, v *verdict, b bound, bias []float64, out tile.Tensor) {
	p := r.p
	row := make([]float64, p.N)
	shift := math.Sqrt(dot(bias, bias))
	for i := range p.M {
		if ctx.Err() != nil {
			return
		}
		out.Decode(row, i*p.N, 1)
		limit := b.combination(p.N, math.Sqrt(r.normA[i]*r.normB), shift, r.constant)
		for _, pr := range r.probes {
			got, want := dot(row, pr.x), pr.want[i]
			e := math.Abs(got - want)
			if b.exact && e != 0 { // sums of int32 wrap around
				e = math.Abs(float64(int32(int64(got) - int64(want))))
			}
			if e <= limit+pr.doubt[i] {
				continue
			}
			ratio := e / (limit + pr.doubt[i])
			if !(ratio >= 0) {
				ratio = math.Inf(1)
			}
			if ratio > v.worst || v.OK {
				v.worst = max(ratio, v.worst)
				if v.OK {
					v.Detail = fmt.Sprintf("row %d of o is wrong: a random ±combination of it is off by %.3g, at most %.3g is rounding", i, e, limit)
				}
				v.OK = false
			}
		}
	}
}

// least is what no activation goes below, with room for roundings.
var least = map[problem.Activation]float64{problem.Relu: 0, problem.Gelu: -0.18, problem.Silu: -0.3}

// compareRange looks for what no activation makes, NaN among it, in every row: no
// combination of them is known, since activations are not linear. What is plausible
// outside the sampled rows and cells passes.
func (r *Reference) compareRange(ctx context.Context, v *verdict, bias []float64, out tile.Tensor) {
	row, shift := make([]float64, r.p.N), math.Sqrt(dot(bias, bias))
	for i := range r.p.M {
		if ctx.Err() != nil {
			return
		}
		out.Decode(row, i*r.p.N, 1)
		low := least[r.p.Activation]
		if low < 0 { // what is left of a large number that should become 0
			low -= 16 * tile.Float32.Epsilon() * (math.Sqrt(r.normA[i]*r.normB) + shift)
		}
		for j, g := range row {
			if g >= low {
				continue
			}
			if v.OK {
				v.OK, v.Detail = false, fmt.Sprintf("o[%d, %d] is %.9g, which %s makes of nothing", i, j, g, r.p.Activation)
			}
			v.worst = math.Inf(1)
		}
	}
}

// activate is the epilogue's activation in float64.
func activate(a problem.Activation, x float64) float64 {
	switch a {
	case problem.Relu:
		return max(x, 0)
	case problem.Gelu:
		return gated(problem.GateGelu, x)
	case problem.Silu:
		return gated(problem.GateSilu, x)
	}
	return x
}

// newBatchReference makes a reference for each element of a batch. Together they
// compute about as many rows as one of a single product would.
func newBatchReference(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor, products int, salt uint64) (*Reference, error) {
	r, single := &Reference{p: p}, p
	single.Batch = 1
	for e := range p.Batch {
		one, err := elementOf(p, in, e)
		if err != nil {
			return nil, err
		}
		ops, err := operandsOf(ctx, single, one)
		if err != nil {
			return nil, err
		}
		ops.salt = salt
		part, err := newReference(ctx, ops, products/p.Batch)
		if err != nil {
			return nil, err
		}
		r.parts = append(r.parts, part)
	}
	return r, nil
}

// elementOf are the inputs of element e of a batch.
func elementOf(p problem.Matmul, in map[string]tile.Tensor, e int) (map[string]tile.Tensor, error) {
	one := map[string]tile.Tensor{}
	for name, t := range in {
		part, err := element(p, t, e)
		if err != nil {
			return nil, fmt.Errorf("check: %s: %w", name, err)
		}
		one[name] = part
	}
	return one, nil
}

// element is t[e]; a view, unless its first element shares a byte.
func element(p problem.Matmul, t tile.Tensor, e int) (tile.Tensor, error) {
	if len(t.Shape) < 2 || t.Shape[0] != p.Batch {
		return tile.Tensor{}, fmt.Errorf("shape %v of a batch of %d", t.Shape, p.Batch)
	}
	n := t.Len() / p.Batch
	part := tile.Tensor{Dtype: t.Dtype, Shape: t.Shape[1:]}
	bits := n * t.Dtype.Bits()
	if bits%8 == 0 {
		part.Data = t.Data[e*bits/8 : (e+1)*bits/8]
		return part, nil
	}
	part = tile.NewTensor(t.Dtype, t.Shape[1:]...)
	for i := range n {
		part.Set(i, t.At(e*n+i))
	}
	return part, nil
}

// verifyBatch compares each element of a batch; the verdict is the worst.
func (r *Reference) verifyBatch(ctx context.Context, programs []*tile.Program, in map[string]tile.Tensor, out tile.Tensor) (verdict, error) {
	all := verdict{OK: true}
	for e, part := range r.parts {
		one, err := elementOf(r.p, in, e)
		if err != nil {
			return all, err
		}
		o, err := element(r.p, out, e)
		if err != nil {
			return all, fmt.Errorf("check: output: %w", err)
		}
		v, err := part.verify(ctx, programs, one, o)
		if err != nil {
			return all, err
		}
		if !v.OK && all.OK {
			all.OK, all.Detail = false, fmt.Sprintf("element %d of the batch: %s", e, v.Detail)
		}
		all.worst = max(all.worst, v.worst)
		all.rounding.Join(v.rounding)
		all.loss.Join(v.loss)
		all.known = v.known
	}
	return all, ctx.Err()
}
