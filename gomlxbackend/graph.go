package gomlxbackend

import (
	"context"
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
	"github.com/pkg/errors"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

// asOurs sees bfloat16 numbers of gomlx as those of matladder: both are the upper half of a
// float32.
func asOurs(x []bfloat16.BFloat16) []matladder.BFloat16 {
	return unsafe.Slice((*matladder.BFloat16)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// node is a value of a graph.
type node struct {
	shape     shapes.Shape
	parameter int // number of it; -1 for none
	constant  any // its numbers
	op        *op
}

// op computes a node.
type op struct {
	problem problem.Problem
	args    []view
	out     view
	lengths []*node // of attention: of rows and of keys, one may be nil
	program *matladder.Program
}

// view is an array as an operand of a program.
type view struct {
	node          *node // nil for the output
	dims, strides []int
}

type builder struct {
	notimplemented.Builder
	backend *Backend
	name    string
	main    *function
}

func (b *builder) Name() string           { return b.name }
func (b *builder) Main() compute.Function { return b.main }

func (b *builder) OpShape(v compute.Value) (shapes.Shape, error) { return b.main.Shape(v) }

type function struct {
	notimplemented.Function
	builder  *builder
	names    []string
	inputs   []*node
	nodes    []*node // that are computed, in order
	outputs  []*node
	returned bool
}

func (f *function) Name() string             { return compute.MainName }
func (f *function) Builder() compute.Builder { return f.builder }

// nodeOf finds what a value stands for.
func nodeOf(v compute.Value) (*node, error) {
	n, ok := v.(*node)
	if !ok || n == nil {
		return nil, errors.Errorf("matladder: %T is no value of this backend", v)
	}
	return n, nil
}

func nodesOf(values ...compute.Value) ([]*node, error) {
	var list []*node
	for _, v := range values {
		n, err := nodeOf(v)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func (f *function) Shape(v compute.Value) (shapes.Shape, error) {
	n, err := nodeOf(v)
	if err != nil {
		return shapes.Invalid(), err
	}
	return n.shape, nil
}

func (f *function) Parameter(name string, s shapes.Shape, _ *compute.ShardingSpec) (compute.Value, error) {
	if _, err := makeFlat(s); err != nil {
		return nil, err
	}
	n := &node{shape: s, parameter: len(f.inputs)}
	f.names, f.inputs = append(f.names, name), append(f.inputs, n)
	return n, nil
}

func (f *function) Constant(flat any, dims ...int) (compute.Value, error) {
	s := shapes.Make(dtypes.FromAny(flat), dims...)
	to, err := makeFlat(s)
	if err != nil {
		return nil, err
	}
	return &node{shape: s, parameter: -1, constant: to}, copyFlat(to, flat)
}

func (f *function) Identity(v compute.Value) (compute.Value, error) { return v, nil }

func (f *function) Return(outputs []compute.Value, _ []*compute.ShardingSpec) error {
	if f.returned {
		return errors.New("matladder: Return was called before")
	}
	var err error
	f.outputs, err = nodesOf(outputs...)
	f.returned = err == nil
	return err
}

// add makes a node that p computes.
func (f *function) add(s shapes.Shape, p problem.Problem, out view, args ...view) (*node, error) {
	if err := p.Validate(); err != nil {
		return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: %v", err)
	}
	n := &node{shape: s, parameter: -1, op: &op{problem: p, args: args, out: out}}
	f.nodes = append(f.nodes, n)
	return n, nil
}

// product adds x (m×k) · w (k×n), with a bias and an activation.
func (f *function) product(s shapes.Shape, x, w, bias *node, m, k, n int, a problem.Activation) (compute.Value, error) {
	d, err := dtypeOf(x, w)
	if err != nil {
		return nil, err
	}
	p := problem.New(m, k, n, d)
	p.Activation = a
	args := []view{{x, []int{m, k}, []int{k, 1}}, {w, []int{k, n}, []int{n, 1}}}
	if bias != nil {
		if bias.shape.DType != dtypes.Float32 || bias.shape.Size() != n {
			return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: a bias %s: want %d of float32", bias.shape, n)
		}
		p.Bias = true
		args = append(args, view{bias, []int{1, n}, []int{n, 1}})
	}
	return f.add(s, p, view{dims: []int{m, n}, strides: []int{n, 1}}, args...)
}

// dtypeOf is that of all.
func dtypeOf(list ...*node) (tile.Dtype, error) {
	first := list[0].shape.DType
	for _, n := range list {
		if n.shape.DType != first {
			return 0, errors.Wrapf(compute.ErrNotImplemented, "matladder: %s and %s in one operation", first, n.shape.DType)
		}
	}
	switch first {
	case dtypes.Float32:
		return tile.Float32, nil
	case dtypes.BFloat16:
		return tile.BFloat16, nil
	}
	return 0, errors.Wrapf(compute.ErrNotImplemented, "matladder: products of %s", first)
}

// activations are those that kernels have; gelu is the exact one, by the error function.
var activations = map[compute.ActivationType]problem.Activation{
	compute.ActivationNone: problem.NoActivation, compute.ActivationRelu: problem.Relu,
	compute.ActivationGelu: problem.Gelu, compute.ActivationSilu: problem.Silu,
}

func (f *function) FusedDense(x, weight, bias compute.Value, a compute.ActivationType) (compute.Value, error) {
	list, err := nodesOf(x, weight)
	if err != nil {
		return nil, err
	}
	activation, ok := activations[a]
	xs, ws := list[0].shape, list[1].shape
	if !ok || xs.Rank() < 1 || ws.Rank() < 2 || xs.Dim(-1) != ws.Dimensions[0] {
		return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: dense layer of %s and %s, %s", xs, ws, a)
	}
	var b *node
	if bias != nil {
		if b, err = nodeOf(bias); err != nil {
			return nil, err
		}
	}
	k := ws.Dimensions[0]
	dims := slices.Concat(xs.Dimensions[:xs.Rank()-1], ws.Dimensions[1:])
	return f.product(shapes.Make(xs.DType, dims...), list[0], list[1], b, xs.Size()/k, k, ws.Size()/k, activation)
}

func (f *function) DotGeneral(x compute.Value, xContract, xBatch []int, y compute.Value, yContract, yBatch []int, c compute.DotGeneralConfig) (compute.Value, error) {
	list, err := nodesOf(x, y)
	if err != nil {
		return nil, err
	}
	xs, ys := list[0].shape, list[1].shape
	usual := func(d dtypes.DType, others ...dtypes.DType) bool {
		return d == dtypes.InvalidDType || slices.Contains(others, d)
	}
	if len(xBatch)+len(yBatch) > 0 || !slices.Equal(xContract, []int{xs.Rank() - 1}) || !slices.Equal(yContract, []int{0}) || xs.Rank() < 1 || ys.Rank() < 1 ||
		xs.Dim(-1) != ys.Dimensions[0] || !usual(c.AccumulatorDType, dtypes.Float32, xs.DType) || !usual(c.OutputDType, xs.DType) {
		return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: DotGeneral of %s and %s but along the last and the first axis", xs, ys)
	}
	k := ys.Dimensions[0]
	dims := slices.Concat(xs.Dimensions[:xs.Rank()-1], ys.Dimensions[1:])
	return f.product(shapes.Make(xs.DType, dims...), list[0], list[1], nil, xs.Size()/k, k, ys.Size()/k, problem.NoActivation)
}

func (f *function) FusedScaledDotProductAttention(query, key, value compute.Value, layout compute.AxesLayout, o *compute.ScaledDotProductAttentionConfig) (compute.Value, []compute.Value, error) {
	list, err := nodesOf(query, key, value)
	if err != nil {
		return nil, nil, err
	}
	d, err := dtypeOf(list...)
	if err != nil {
		return nil, nil, err
	}
	if o == nil {
		o = &compute.ScaledDotProductAttentionConfig{}
	}
	var views [3]view
	for i, n := range list {
		if n.shape.Rank() != 4 {
			return nil, nil, errors.Errorf("matladder: attention of %s: want four axes", n.shape)
		}
		views[i] = heads(n, layout)
	}
	q, k, v := views[0].dims, views[1].dims, views[2].dims
	if k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3] || q[1]%k[1] != 0 {
		return nil, nil, errors.Errorf("matladder: attention of %s, %s and %s", list[0].shape, list[1].shape, list[2].shape)
	}
	p := problem.Attention{Batch: q[0], Heads: q[1], KVHeads: k[1], Rows: q[2], Keys: k[2], Dim: q[3], ValueDim: v[3], Dtype: d, Scale: o.Scale, Causal: o.Causal}
	args := views[:]
	for _, added := range []compute.Value{o.Bias, o.Mask} {
		if added == nil {
			continue
		}
		n, err := nodeOf(added)
		if err != nil {
			return nil, nil, err
		}
		dims := []int{q[0], q[1], q[2], k[2]}
		if p.Bias || n.shape.DType != dtypes.Float32 || !slices.Equal(n.shape.Dimensions, dims) {
			return nil, nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: a bias or mask %s: want one, float32 of %v", n.shape, dims)
		}
		p.Bias = true
		args = append(args, view{n, dims, dense(dims)})
	}
	out := slices.Clone(q)
	out[3] = v[3]
	dims := slices.Clone(list[0].shape.Dimensions)
	dims[3] = v[3]
	var lengths []*node
	if o.QuerySeqLen != nil || o.KeyValueSeqLen != nil {
		p.Lengths, lengths = true, make([]*node, 2)
		for i, l := range []compute.Value{o.QuerySeqLen, o.KeyValueSeqLen} {
			if l == nil {
				continue
			}
			if lengths[i], err = nodeOf(l); err != nil {
				return nil, nil, err
			}
			if s := lengths[i].shape; s.DType != dtypes.Int32 || s.Size() != q[0] {
				return nil, nil, errors.Errorf("matladder: lengths %s: want %d of int32", s, q[0])
			}
		}
	}
	n, err := f.add(shapes.Make(list[0].shape.DType, dims...), p, heads(&node{shape: shapes.Make(list[0].shape.DType, dims...)}, layout), args...)
	if err != nil {
		return nil, nil, err
	}
	n.op.out.node, n.op.lengths = nil, lengths
	return n, nil, nil
}

// heads is an array of attention with axes batch, head, row, element, however it lies.
func heads(n *node, layout compute.AxesLayout) view {
	dims := slices.Clone(n.shape.Dimensions)
	strides := dense(dims)
	if layout == compute.AxesLayoutBSHD {
		dims[1], dims[2] = dims[2], dims[1]
		strides[1], strides[2] = strides[2], strides[1]
	}
	return view{n, dims, strides}
}

// Compile has a program made for each operation.
func (b *builder) Compile() (compute.Executable, error) {
	if !b.main.returned {
		return nil, errors.New("matladder: Return was not called")
	}
	e := &executable{function: b.main}
	for _, n := range b.main.nodes {
		var err error
		if n.op.program, err = matladder.Compile(context.Background(), n.op.problem, b.backend.options); err != nil {
			e.Finalize()
			if errors.Is(err, matladder.ErrUnsupported) {
				return nil, errors.Wrapf(compute.ErrNotImplemented, "%v", err)
			}
			return nil, errors.WithStack(err)
		}
	}
	return e, nil
}

type executable struct{ *function }

func (e *executable) Finalize() {
	for _, n := range e.nodes {
		if n.op.program != nil {
			n.op.program.Close()
		}
	}
}

func (e *executable) Inputs() ([]string, []shapes.Shape) { return e.names, shapesOf(e.inputs) }
func (e *executable) Outputs() []shapes.Shape            { return shapesOf(e.outputs) }

func shapesOf(nodes []*node) []shapes.Shape {
	var list []shapes.Shape
	for _, n := range nodes {
		list = append(list, n.shape)
	}
	return list
}

// Execute runs the operations in their order. Buffers that are donated are not used again.
func (e *executable) Execute(inputs []compute.Buffer, _ []bool, _ compute.DeviceNum) ([]compute.Buffer, error) {
	if len(inputs) != len(e.inputs) {
		return nil, errors.Errorf("matladder: %d inputs, want %d", len(inputs), len(e.inputs))
	}
	values := map[*node]any{}
	for i, in := range inputs {
		x, ok := in.(*buffer)
		if !ok || x.flat == nil || !x.shape.Equal(e.inputs[i].shape) {
			return nil, errors.Errorf("matladder: input %d (%s) is no buffer of %s", i, e.names[i], e.inputs[i].shape)
		}
		values[e.inputs[i]] = x.flat
	}
	for _, n := range e.nodes {
		flat, err := makeFlat(n.shape)
		if err != nil {
			return nil, err
		}
		if err := n.op.run(values, flat); err != nil {
			return nil, errors.WithStack(err)
		}
		values[n] = flat
	}
	var out []compute.Buffer
	for _, n := range e.outputs {
		flat := values[n]
		if flat == nil {
			flat = n.constant
		}
		if n.op == nil { // an input or a constant stays its owner's
			own, err := makeFlat(n.shape)
			if err == nil {
				err = copyFlat(own, flat)
			}
			if err != nil {
				return nil, err
			}
			flat = own
		}
		out = append(out, &buffer{e.builder.backend, n.shape, flat})
	}
	return out, nil
}

// run computes one operation into a slice.
func (o *op) run(values map[*node]any, flat any) error {
	of := func(n *node) any {
		if n.constant != nil {
			return n.constant
		}
		return values[n]
	}
	byName := map[string]matladder.Tensor{}
	operands := o.problem.Operands()
	for i, a := range o.args {
		byName[operands[i].Name] = tensor(of(a.node), a.dims, a.strides)
	}
	if o.lengths != nil {
		p := o.problem.(problem.Attention)
		table := make([]int32, 2*p.Batch)
		for i := range table {
			table[i] = int32([]int{p.Rows, p.Keys}[i%2])
			if n := o.lengths[i%2]; n != nil {
				table[i] = of(n).([]int32)[i/2]
			}
		}
		byName["lengths"] = matladder.Of(table, len(table))
	}
	var in []matladder.Tensor
	for _, a := range o.program.Inputs() {
		in = append(in, byName[a.Name])
	}
	return o.program.Run(context.Background(), tensor(flat, o.out.dims, o.out.strides), in...)
}
