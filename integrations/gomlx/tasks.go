package gomlx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/pkg/errors"

	"matladder"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// task is an operation that a program of matladder's computes.
type task struct {
	key     string // of what is equal, a program serves all
	compile func(context.Context, matladder.Options) (*matladder.Program, error)
	args    []view
	out     view
	product *product // that it is, if it is one
}

// view is a value as a program sees it, which has a name for it.
type view struct {
	name          string
	node          *node // nil for the output
	dims, strides []int
}

// dense views a value without gaps.
func dense(name string, n *node, dims ...int) view { return view{name, n, dims, stridesOf(dims)} }

func stridesOf(dims []int) []int {
	s, n := make([]int, len(dims)), 1
	for i := range slices.Backward(dims) {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// solve is the task of a problem.
func solve(p problem.Problem, out view, args ...view) *task {
	return &task{key: fmt.Sprintf("%T %+v", p, p), args: args, out: out, compile: func(ctx context.Context, o matladder.Options) (*matladder.Program, error) {
		return matladder.Compile(ctx, p, o)
	}}
}

// dtypesOf are the element types that programs compute with.
var dtypesOf = map[dtypes.DType]tile.Dtype{
	dtypes.Float32: tile.Float32, dtypes.BFloat16: tile.BFloat16, dtypes.Int8: tile.Int8, dtypes.Int32: tile.Int32,
}

// takes reports whether matladder may compute something of shapes: in main alone, whose
// graph is cut, and with sizes that are known.
func (f *function) takes(list ...shapes.Shape) bool {
	return f == f.builder.main && !slices.ContainsFunc(list, func(s shapes.Shape) bool { return s.IsDynamic() || s.Size() < 1 })
}

// give has a task compute v.
func give(v value, t *task) value {
	if n := v.(*node); t != nil && len(n.op.outputs) == 1 {
		n.op.task = t
	}
	return v
}

// given are the values that are not nil.
func given(list ...value) []value {
	return slices.DeleteFunc(list, func(v value) bool { return v == nil })
}

// next takes the first of the values that were given, if it was.
func next(list *[]value, was value) value {
	if was == nil {
		return nil
	}
	v := (*list)[0]
	*list = (*list)[1:]
	return v
}

var errNoQuantization = errors.New("matladder: an operation on quantized values without a quantization")

// quantization is q with other values.
func quantization(q *compute.Quantization, scale, zero value) *compute.Quantization {
	own := *q
	own.Scale, own.ZeroPoint = scale, zero
	return &own
}

func (f *function) DotGeneral(x value, xSum, xBatch []int, y value, ySum, yBatch []int, c compute.DotGeneralConfig) (value, error) {
	list, err := f.nodes(x, y)
	if err != nil {
		return nil, err
	}
	if c16 := c; list[0].shape.DType == dtypes.Float16 && list[1].shape.DType == dtypes.Float16 && c.AccumulatorDType != dtypes.Float16 && f.takes(list[0].shape, list[1].shape) {
		// Products of float16 are sums of float32 in the Go backend too.
		c16.AccumulatorDType, c16.OutputDType = dtypes.Float32, dtypes.Float32
		return f.widened(list[:2], cmp.Or(c.OutputDType, dtypes.Float16), func(in []value) (value, error) {
			return f.DotGeneral(in[0], xSum, xBatch, in[1], ySum, yBatch, c16)
		})
	}
	v, err := f.recordDotGeneral(x, xSum, xBatch, y, ySum, yBatch, c)
	if err != nil || !f.takes(list[0].shape, list[1].shape) || c.AccumulatorDType != dtypes.InvalidDType && c.AccumulatorDType != dtypes.Float32 && c.AccumulatorDType != dtypes.Int32 {
		return v, err
	}
	p := f.product(list[0], xSum, xBatch, list[1], ySum, yBatch)
	if p == nil {
		return v, nil
	}
	return give(v, p.task(v.(*node).shape)), nil
}

// recording keeps the first error of operations that are added one after the other. Those
// behind it get no value, and refuse that.
type recording struct{ err error }

func (r *recording) of(v value, err error) value {
	r.err = cmp.Or(r.err, err)
	return v
}

// widened computes in float32 what is of float16.
func (f *function) widened(list []*node, out dtypes.DType, compute func([]value) (value, error)) (value, error) {
	var r recording
	in := each.Of(list, func(n *node) value { return r.of(f.ConvertDType(n, dtypes.Float32)) })
	v := r.of(f.ConvertDType(r.of(compute(in)), out))
	return v, r.err
}

// activations are those that products have.
var activations = map[compute.ActivationType]problem.Activation{
	compute.ActivationNone: problem.NoActivation, compute.ActivationRelu: problem.Relu,
	compute.ActivationGelu: problem.Gelu, compute.ActivationSilu: problem.Silu,
}

func (f *function) FusedDense(x, weight, bias value, a compute.ActivationType) (value, error) {
	v, err := f.recordFusedDense(x, weight, bias, a)
	if err != nil {
		return nil, err
	}
	activation, ok := activations[a]
	list, err := f.nodes(given(x, weight, bias)...)
	if err != nil {
		return nil, err
	}
	s := list[0].shape
	if ok && f.takes(s, list[1].shape) {
		if p := f.product(list[0], []int{s.Rank() - 1}, nil, list[1], []int{0}, nil); p != nil {
			p.activation = activation
			if len(list) > 2 {
				p.bias = list[2]
			}
			if t := p.task(v.(*node).shape); t != nil {
				return give(v, t), nil
			}
		}
	}
	if s.DType != dtypes.Float32 && s.DType != dtypes.Float64 { // the Go backend would refuse it when it runs
		return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: FusedDense of %s", s.DType)
	}
	return v, nil
}

// FusedAttentionQKVProjection is one product, whose columns are parted.
func (f *function) FusedAttentionQKVProjection(x, w, biasQ, biasK, biasV value, queries, keys int) (q, k, v value, err error) {
	list, err := f.nodes(x, w)
	if err != nil {
		return nil, nil, nil, err
	}
	rank := list[0].shape.Rank()
	all, err := f.DotGeneral(x, []int{rank - 1}, nil, w, []int{0}, nil, compute.DotGeneralConfig{})
	if err != nil {
		return nil, nil, nil, err
	}
	s := all.(*node).shape
	from, to := make([]int, rank), slices.Clone(s.Dimensions)
	var r recording
	var parts [3]value
	for i, bias := range []value{biasQ, biasK, biasV} {
		s.Dimensions = slices.Clone(s.Dimensions)
		s.Dimensions[rank-1] = []int{queries, keys, keys}[i]
		to[rank-1] = from[rank-1] + s.Dimensions[rank-1]
		parts[i] = r.of(f.Slice(all, from, to, nil))
		from[rank-1] = to[rank-1]
		if bias != nil {
			parts[i] = r.of(f.Add(parts[i], r.of(f.BroadcastInDim(bias, s, []int{rank - 1}))))
		}
	}
	return parts[0], parts[1], parts[2], r.err
}

func (f *function) FusedSoftmax(x value, axis int) (value, error) {
	v, err := f.recordFusedSoftmax(x, axis)
	if err != nil {
		return nil, err
	}
	n := v.(*node)
	d, rows, cols := f.rows(n.shape, axis)
	if d == tile.InvalidDtype {
		return v, nil
	}
	return give(v, solve(problem.Softmax{Rows: rows, Cols: cols, X: d, Out: d}, dense("o", nil, rows, cols), dense("x", x.(*node), rows, cols))), nil
}

// rows are the dtype and the sizes of an array whose rows, from an axis on, are worth a
// launch; no dtype of another.
func (f *function) rows(s shapes.Shape, axis int) (d tile.Dtype, rows, cols int) {
	d, ok := dtypesOf[s.DType]
	if !ok || d.IsInteger() || !f.takes(s) || axis != s.Rank()-1 || s.Size() < f.builder.backend.small/4 {
		return tile.InvalidDtype, 0, 0
	}
	cols = s.Dim(-1)
	return d, s.Size() / cols, cols
}

func (f *function) FusedLayerNorm(x value, axes []int, epsilon float64, gamma, beta value) (value, error) {
	v, err := f.recordFusedLayerNorm(x, axes, epsilon, gamma, beta)
	if err != nil {
		return nil, err
	}
	n := v.(*node)
	if len(axes) != 1 || gamma == nil || beta == nil || epsilon <= 0 {
		return v, nil
	}
	d, rows, cols := f.rows(n.shape, (axes[0]+n.shape.Rank())%n.shape.Rank())
	if d == tile.InvalidDtype {
		return v, nil
	}
	return give(v, solve(problem.Norm{Rows: rows, Cols: cols, X: d, Out: d, Epsilon: epsilon}, dense("o", nil, rows, cols),
		dense("x", x.(*node), rows, cols), dense("w", gamma.(*node), 1, cols), dense("b", beta.(*node), 1, cols))), nil
}

// unsupported is an error that has gomlx take the operation apart.
func unsupported(format string, list ...any) error {
	return errors.Wrapf(compute.ErrNotImplemented, "matladder: "+format, list...)
}

func (f *function) FusedScaledDotProductAttention(query, key, val value, layout compute.AxesLayout, options *compute.ScaledDotProductAttentionConfig) (value, []value, error) {
	v, err := f.attention(query, key, val, layout, options)
	return v, nil, err
}

func (f *function) attention(query, key, val value, layout compute.AxesLayout, options *compute.ScaledDotProductAttentionConfig) (value, error) {
	list, err := f.nodes(query, key, val)
	if err != nil {
		return nil, err
	}
	options = cmp.Or(options, &compute.ScaledDotProductAttentionConfig{})
	for _, n := range list {
		switch s := n.shape; {
		case s.Rank() != 4:
			return nil, errors.Errorf("matladder: attention of %s: want four axes", s)
		case s.DType != list[0].shape.DType:
			return nil, errors.Errorf("matladder: attention of %s and %s", list[0].shape, s)
		case !f.takes(s):
			return nil, unsupported("attention of %s, or in a function", s)
		}
	}
	if d := list[0].shape.DType; d == dtypes.Float16 {
		return f.widened(list, d, func(in []value) (value, error) { return f.attention(in[0], in[1], in[2], layout, options) })
	}
	d, ok := dtypesOf[list[0].shape.DType]
	if !ok || d.IsInteger() {
		return nil, unsupported("attention of %s", list[0].shape.DType)
	}
	qv, kv, vv := heads("q", list[0], layout), heads("k", list[1], layout), heads("v", list[2], layout)
	q, k, v := qv.dims, kv.dims, vv.dims
	if k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3] || q[1]%k[1] != 0 {
		return nil, errors.Errorf("matladder: attention of %s, %s and %s", list[0].shape, list[1].shape, list[2].shape)
	}
	p := problem.Attention{Batch: q[0], Heads: q[1], KVHeads: k[1], Rows: q[2], Keys: k[2], Dim: q[3], ValueDim: v[3], Dtype: d, Scale: options.Scale, Causal: options.Causal}
	args := []view{qv, kv, vv}

	bias, err := f.scores(options, layout, q[0], q[1], q[2], k[2])
	if err != nil {
		return nil, err
	}
	if bias != nil {
		p.Bias = true
		args = append(args, dense("bias", bias, q[0], q[1], q[2], k[2]))
	}
	if options.QuerySeqLen != nil || options.KeyValueSeqLen != nil {
		lengths, err := f.lengths(options, q[0], q[2], k[2])
		if err != nil {
			return nil, err
		}
		p.Lengths = true
		args = append(args, dense("lengths", lengths, 2*q[0]))
	}
	if err := p.Validate(); err != nil {
		return nil, unsupported("%v", err)
	}
	out := list[0].shape.Clone()
	out.Dimensions[3] = v[3]
	name := fmt.Sprint("attention ", len(f.ops))
	o, err := one(f.record(&op{kind: compute.OpTypeFusedScaledDotProductAttention, build: func(to compute.Function, _ []value, _ []compute.Function) ([]value, error) {
		v, err := to.Parameter(name, out, nil) // in the shadow, where nothing computes it
		return []value{v}, err
	}}))
	if err != nil {
		return nil, err
	}
	o.(*node).op.task = solve(p, heads("o", &node{shape: out}, layout), args...)
	return o, nil
}

// heads is an array of attention with axes batch, head, row, element, however it lies.
func heads(name string, n *node, layout compute.AxesLayout) view {
	dims := slices.Clone(n.shape.Dimensions)
	strides := stridesOf(dims)
	if layout == compute.AxesLayoutBSHD {
		dims[1], dims[2] = dims[2], dims[1]
		strides[1], strides[2] = strides[2], strides[1]
	}
	return view{name, n, dims, strides}
}

// scores are what is added to those of attention, float32 of dims (batch, heads, rows,
// keys): a bias, a mask, both, or nil. A mask of truth hides by -Inf.
func (f *function) scores(o *compute.ScaledDotProductAttentionConfig, layout compute.AxesLayout, dims ...int) (*node, error) {
	var sum value
	for i, v := range []value{o.Bias, o.Mask} {
		if v == nil {
			continue
		}
		list, err := f.nodes(v)
		if err != nil {
			return nil, err
		}
		s := list[0].shape
		rank := s.Rank()
		if rank < 1 || rank > 4 || i == 1 && rank == 3 && s.Dimensions[0] > 1 { // that may be of a batch, or of heads
			return nil, unsupported("a bias or mask of %s", s)
		}
		var r recording
		if i == 1 && rank == 4 && layout == compute.AxesLayoutBSHD {
			v = r.of(f.Transpose(v, 0, 2, 1, 3))
		}
		if s.DType == dtypes.Bool {
			seen, hidden := r.of(f.Constant([]float32{0})), r.of(f.Constant([]float32{float32(math.Inf(-1))}))
			v = r.of(f.Where(v, seen, hidden))
		} else {
			v = r.of(f.ConvertDType(v, dtypes.Float32))
		}
		axes := []int{0, 1, 2, 3}[4-rank:]
		v = r.of(f.BroadcastInDim(v, shapes.Make(dtypes.Float32, dims...), axes))
		if sum != nil {
			v = r.of(f.Add(sum, v))
		}
		if r.err != nil {
			return nil, errors.WithMessagef(r.err, "matladder: a bias or mask of %s", s)
		}
		sum = v
	}
	n, _ := sum.(*node)
	return n, nil
}

// lengths are those of rows and keys, in turns, of each example.
func (f *function) lengths(o *compute.ScaledDotProductAttentionConfig, batch, rows, keys int) (*node, error) {
	var r recording
	var columns []value
	for i, v := range []value{o.QuerySeqLen, o.KeyValueSeqLen} {
		if v == nil {
			v = r.of(f.Constant(slices.Repeat([]int32{int32([]int{rows, keys}[i])}, batch), batch))
		}
		list, err := f.nodes(v)
		if err = cmp.Or(r.err, err); err != nil {
			return nil, err
		}
		if want := shapes.Make(dtypes.Int32, batch); !list[0].shape.Equal(want) {
			return nil, errors.Errorf("matladder: lengths of sequences are %s, want %s", list[0].shape, want)
		}
		columns = append(columns, r.of(f.Reshape(v, batch, 1)))
	}
	n, _ := r.of(f.Concatenate(1, columns...)).(*node)
	return n, r.err
}
