package gomlx

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
	"github.com/pkg/errors"

	"matladder/internal/each"
)

// builder records a graph. Each operation is also added to a graph of the Go backend, its
// shadow, which knows shapes and rules; that graph never runs. What runs is written anew
// when the graph is compiled, cut where matladder's operations stand.
type builder struct {
	notimplemented.Builder
	backend *Backend
	shadow  compute.Builder
	main    *function
	known   map[value]*node // by the value of the shadow, which has equal operations once
}

// function is main, one with a name, or a closure.
type function struct {
	notimplemented.Function
	builder  *builder
	shadow   compute.Function
	parent   *function // of a closure
	names    []string  // of the parameters
	inputs   []*node
	ops      []*op // in the order in which they were added
	outputs  []*node
	returned bool
}

// node is a value.
type node struct {
	owner  *function
	shadow value
	shape  shapes.Shape
	op     *op // nil for a parameter
}

// op is what computes nodes.
type op struct {
	kind    compute.OpType
	numbers [][]int // axes, sizes and the like
	inputs  []*node
	bodies  []compute.Function // *function each, once it is recorded
	outputs []*node
	build   build
	flat    any   // of a constant
	task    *task // where matladder computes it
}

// build adds an operation to a graph of the Go backend.
type build func(to compute.Function, in []value, bodies []compute.Function) ([]value, error)

type value = compute.Value

func (b *builder) Name() string           { return b.shadow.Name() }
func (b *builder) Main() compute.Function { return b.main }

func (b *builder) function(parent *function, shadow compute.Function) *function {
	return &function{Function: notimplemented.Function{ErrFn: missing}, builder: b, shadow: shadow, parent: parent}
}

// NewFunction begins a function that others call.
func (b *builder) NewFunction(name string) (compute.Function, error) {
	shadow, err := b.shadow.NewFunction(name)
	if err != nil {
		return nil, err
	}
	return b.function(nil, shadow), nil
}

func (b *builder) OpShape(v value) (shapes.Shape, error) { return b.main.Shape(v) }

func (f *function) Name() string             { return f.shadow.Name() }
func (f *function) Builder() compute.Builder { return f.builder }

// Parent is the function that a closure is part of.
func (f *function) Parent() compute.Function {
	if f.parent == nil {
		return nil
	}
	return f.parent
}

func (f *function) Closure() (compute.Function, error) {
	shadow, err := f.shadow.Closure()
	if err != nil {
		return nil, err
	}
	return f.builder.function(f, shadow), nil
}

// nodes finds what values stand for.
func (f *function) nodes(values ...value) ([]*node, error) {
	list := make([]*node, len(values))
	for i, v := range values {
		n, ok := v.(*node)
		switch {
		case !ok || n == nil:
			return nil, errors.Errorf("matladder: %T is no value of this backend", v)
		case n.owner.builder != f.builder:
			return nil, errors.Errorf("matladder: a value of another graph, %q, in graph %q", n.owner.builder.Name(), f.builder.Name())
		}
		list[i] = n
	}
	return list, nil
}

func (f *function) Shape(v value) (shapes.Shape, error) {
	list, err := f.nodes(v)
	if err != nil {
		return shapes.Invalid(), err
	}
	return list[0].shape, nil
}

// open returns an error if nothing can be added any more.
func (f *function) open() error {
	if f.returned {
		return errors.Errorf("matladder: function %q of graph %q has returned: nothing can be added to it", f.Name(), f.builder.Name())
	}
	return nil
}

func (f *function) Parameter(name string, s shapes.Shape, sharding *compute.ShardingSpec) (value, error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	if slices.Contains(f.names, name) {
		return nil, errors.Errorf("matladder: graph %q has a parameter %q already", f.builder.Name(), name)
	}
	shadow, err := f.shadow.Parameter(name, s, sharding)
	if err != nil {
		return nil, err
	}
	n := &node{owner: f, shadow: shadow, shape: s}
	f.names, f.inputs = append(f.names, name), append(f.inputs, n)
	return n, nil
}

func (f *function) Constant(flat any, dims ...int) (value, error) {
	dims = slices.Clone(dims)
	if flat == nil || reflect.TypeOf(flat).Kind() != reflect.Slice {
		return nil, errors.Errorf("matladder: a constant of %T: want a slice", flat)
	}
	v := reflect.ValueOf(flat)
	own := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v).Interface()
	return one(f.record(&op{kind: compute.OpTypeConstant, flat: own, build: func(to compute.Function, _ []value, _ []compute.Function) ([]value, error) {
		v, err := to.Constant(own, dims...)
		return []value{v}, err
	}}))
}

func (f *function) Return(outputs []value, shardings []*compute.ShardingSpec) error {
	if err := f.open(); err != nil {
		return err
	}
	list, err := f.nodes(outputs...)
	if err != nil {
		return err
	}
	if err := f.shadow.Return(shadows(list), shardings); err != nil {
		return err
	}
	f.outputs, f.returned = list, true
	return nil
}

func shadows(list []*node) []value {
	return each.Of(list, func(n *node) value { return n.shadow })
}

// record adds an operation on values.
func (f *function) record(o *op, values ...value) ([]value, error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	var err error
	if o.inputs, err = f.nodes(values...); err != nil {
		return nil, err
	}
	var bodies []compute.Function
	for _, g := range o.bodies {
		body, ok := g.(*function)
		if !ok || body == nil || body.builder != f.builder {
			return nil, errors.Errorf("matladder: a function of another graph or backend, in graph %q", f.builder.Name())
		}
		bodies = append(bodies, body.shadow)
	}
	results, err := o.build(f.shadow, shadows(o.inputs), bodies)
	if err != nil {
		return nil, err
	}
	out := make([]value, len(results))
	for i, v := range results {
		n := f.builder.known[v]
		if n == nil {
			s, err := f.shadow.Shape(v)
			if err != nil {
				return nil, err
			}
			n = &node{owner: f, shadow: v, shape: s, op: o}
			f.builder.known[v] = n
		}
		o.outputs, out[i] = append(o.outputs, n), n
	}
	if slices.ContainsFunc(o.outputs, func(n *node) bool { return n.op == o }) {
		f.ops = append(f.ops, o)
	}
	return out, nil
}

// one is the value of an operation that has one.
func one(list []value, err error) (value, error) {
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func two(list []value, err error) (value, value, error) {
	if err != nil {
		return nil, nil, err
	}
	return list[0], list[1], nil
}

func three(list []value, err error) (value, value, value, error) {
	if err != nil {
		return nil, nil, nil, err
	}
	return list[0], list[1], list[2], nil
}

// needs calls visit with each node that an operation reads, those that its closures take
// from around them included.
func (o *op) needs(visit func(*node)) {
	for _, n := range o.inputs {
		visit(n)
	}
	for _, g := range o.bodies {
		body := g.(*function)
		around := func(n *node) {
			if n.owner != body {
				visit(n)
			}
		}
		for _, o := range body.ops {
			o.needs(around)
		}
		for _, n := range body.outputs {
			around(n)
		}
	}
}

// writer writes recorded operations into a graph of the Go backend.
type writer struct {
	builder compute.Builder
	to      compute.Function
	values  map[*node]value
	named   map[*function]compute.Function
}

// write adds an operation.
func (w *writer) write(o *op) error {
	var bodies []compute.Function
	for _, body := range o.bodies {
		g, err := w.body(body.(*function))
		if err != nil {
			return err
		}
		bodies = append(bodies, g)
	}
	out, err := o.build(w.to, w.of(o.inputs), bodies)
	if err != nil {
		return err
	}
	for i, v := range out {
		if n := o.outputs[i]; n.op == o {
			w.values[n] = v
		}
	}
	return nil
}

// body writes a closure, or a function with a name unless it is there.
func (w *writer) body(f *function) (g compute.Function, err error) {
	switch {
	case f.parent != nil:
		g, err = w.to.Closure()
	case w.named[f] != nil:
		return w.named[f], nil
	default:
		if g, err = w.builder.NewFunction(f.Name()); err == nil {
			w.named[f] = g
		}
	}
	if err != nil {
		return nil, err
	}
	inner := *w
	inner.to = g
	return g, inner.all(f, f.ops)
}

// all writes the parameters of f, some of its operations, and what it returns.
func (w *writer) all(f *function, ops []*op) error {
	for i, n := range f.inputs {
		v, err := w.to.Parameter(f.names[i], n.shape, nil)
		if err != nil {
			return err
		}
		w.values[n] = v
	}
	for _, o := range ops {
		if err := w.write(o); err != nil {
			return err
		}
	}
	return w.to.Return(w.of(f.outputs), nil)
}

// of are the values that nodes have in the graph being written.
func (w *writer) of(list []*node) []value {
	return each.Of(list, func(n *node) value { return w.values[n] })
}
