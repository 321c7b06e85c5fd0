package gomlx

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"matladder/problem"
	"matladder/tile"
)

// patterns finds what models write out in small operations and matladder computes in one: the
// gated half of an MLP, RMS norm, rotary positions. What is inside of one has no other reader;
// where it has, as for a gradient, the operations stay.
type patterns struct {
	*function
	uses map[*node]int
	ops  []*op // each behind what it reads
	seen map[*op]bool
}

// form is an operation, a value that has a name, or an operation whose value has one.
type form struct {
	kind compute.OpType
	name string
	of   []form
}

func named(name string) form { return form{name: name} }

func made(kind compute.OpType, of ...form) form { return form{kind: kind, of: of} }

func times(x, y form) form { return made(compute.OpTypeMul, x, y) }

var (
	gates = times(times(named("gate"), made(compute.OpTypeLogistic, named("gate"))), named("up"))
	layer = times(named("gate"), named("up")) // of a dense layer with silu

	squares = form{compute.OpTypeReduceSum, "sum", []form{times(named("x"), named("x"))}}
	plus    = func(mean form) form { return made(compute.OpTypeAdd, mean, named("epsilon")) }
	norms   = func(mean form) []form {
		return []form{
			times(times(named("x"), made(compute.OpTypeRsqrt, plus(mean))), named("w")),
			times(made(compute.OpTypeDiv, named("x"), made(compute.OpTypeSqrt, plus(mean))), named("w")),
		}
	}
	normsOf = norms(times(squares, named("part")))
	normsBy = norms(made(compute.OpTypeDiv, squares, named("count")))

	turns = made(compute.OpTypeConcatenate,
		made(compute.OpTypeSub, times(named("a"), named("cos")), times(named("b"), named("sin"))),
		made(compute.OpTypeAdd, times(named("b"), named("cos")), times(named("a"), named("sin"))))
)

// count visits all that n needs.
func (p *patterns) count(n *node) {
	p.uses[n]++
	if source(n) || p.seen[n.op] {
		return
	}
	p.seen[n.op] = true
	n.op.reads(p.count)
	p.ops = append(p.ops, n.op)
}

// find gives tasks to the operations at the end of a pattern.
func (p *patterns) find() {
	for _, o := range p.ops {
		switch {
		case o.task != nil:
		case o.kind == compute.OpTypeMul:
			for _, w := range slices.Concat([]form{gates, layer}, normsOf, normsBy) {
				if found := p.match(w, o); found != nil && o.task == nil {
					if found["sum"] != nil {
						o.task = p.normed(found, o.outputs[0])
					} else {
						o.task = p.gated(found, o.outputs[0])
					}
				}
			}
		case o.kind == compute.OpTypeConcatenate:
			if found := p.match(turns, o); found != nil {
				o.task = p.turned(found, o.outputs[0])
			}
		}
	}
}

// match tells the values of names where an operation is of a form.
func (p *patterns) match(w form, o *op) map[string]*node {
	found := map[string]*node{}
	dims := o.outputs[0].shape.Dimensions
	var inside func(w form, o *op) bool
	node := func(w form, n *node) bool {
		if w.kind == compute.OpTypeInvalid {
			found[w.name] = cmp.Or(found[w.name], n)
			return found[w.name] == n
		}
		if n = p.spread(n, dims, true); source(n) || n.op.kind != w.kind || p.uses[n] != 1 {
			return false
		}
		if w.name != "" {
			found[w.name] = n
		}
		return inside(w, n.op)
	}
	inside = func(w form, o *op) bool {
		orders := [][]int{{0, 1}}
		if w.kind == compute.OpTypeMul || w.kind == compute.OpTypeAdd {
			orders = append(orders, []int{1, 0})
		}
		if len(w.of) != len(o.inputs) {
			return false
		}
		before := maps.Clone(found)
	tries:
		for _, order := range orders {
			found = maps.Clone(before)
			for i, part := range w.of {
				if !node(part, o.inputs[order[i]]) {
					continue tries
				}
			}
			return true
		}
		return false
	}
	if len(o.outputs) != 1 || !inside(w, o) {
		return nil
	}
	return found
}

// spread is what n repeats: along the last axis of dims, or along all others. It is n where
// there is no such reshape or broadcast.
func (p *patterns) spread(n *node, dims []int, last bool) *node {
	own := slices.Repeat([]int{1}, len(dims))
	if last {
		copy(own, dims[:len(dims)-1])
	} else {
		own[len(own)-1] = dims[len(dims)-1]
	}
	for n.op != nil && p.uses[n] == 1 {
		from := n
		switch have := n.shape.Dimensions; n.op.kind {
		case compute.OpTypeReshape:
			if slices.Equal(have, own) || slices.Equal(have, dims[:len(dims)-1]) {
				from = n.op.inputs[0]
			}
		case compute.OpTypeBroadcastInDim:
			was, axes := slices.Repeat([]int{1}, len(dims)), n.op.numbers[0]
			for i, to := range axes {
				was[to] = n.op.inputs[0].shape.Dimensions[i]
			}
			if slices.Equal(have, dims) && slices.Equal(was, own) && slices.IsSorted(axes) {
				from = n.op.inputs[0]
			}
		}
		if from == n {
			break
		}
		n = from
	}
	return n
}

// gated is silu(x · gate) · (x · up).
func (p *patterns) gated(found map[string]*node, out *node) *task {
	gate, up := found["gate"], found["up"]
	if source(gate) || source(up) || gate.op.task == nil || up.op.task == nil || p.uses[up] != 1 {
		return nil
	}
	a, b := gate.op.task.product, up.op.task.product
	if a == nil || b == nil || a.x != b.x || !a.plain() || !b.plain() || b.activation != problem.NoActivation || !a.y.shape.Equal(b.y.shape) ||
		out.shape.DType != a.x.shape.DType || out.shape.DType != gate.shape.DType {
		return nil
	}
	if silu := a.activation == problem.Silu; !silu && a.activation != problem.NoActivation || silu != (p.uses[gate] == 1) || !silu && p.uses[gate] != 2 {
		return nil
	}
	d, k := dtypesOf[out.shape.DType], a.sizes[a.ys[0]]
	rows, n := a.x.shape.Size()/k, a.y.shape.Size()/k
	return solve(problem.MLP{Rows: rows, K: k, N: n, X: d, W: d, Activation: problem.GateSilu}, dense("o", nil, rows, n),
		dense("x", a.x, rows, k), dense("gate", a.y, k, n), dense("up", b.y, k, n))
}

// plain says that a product is rows · matrix, of floats and without a bias.
func (p *product) plain() bool {
	rows := len(p.xs) - 1
	return p.bias == nil && p.x.shape.DType.IsFloat() && len(p.ys) == 2 && p.xs[rows] == p.ys[0] && string(p.xs[:rows])+string(p.ys[1]) == string(p.o)
}

// normed is x / √(mean of squares + ε) · w.
func (p *patterns) normed(found map[string]*node, out *node) *task {
	x, last := found["x"], out.shape.Rank()-1
	d, rows, cols := p.rows(out.shape, last)
	if d == tile.InvalidDtype || !x.shape.Equal(out.shape) || !slices.Equal(found["sum"].op.numbers[0], []int{last}) {
		return nil
	}
	w := p.spread(found["w"], x.shape.Dimensions, false)
	epsilon, n := number(found["epsilon"]), number(found["count"])
	if part := found["part"]; part != nil {
		n = 1 / number(part)
	}
	if !(epsilon > 0) || float32(n/float64(cols)) != 1 || w.shape.Size() != cols || w.shape.Rank() > 1 && w.shape.Dim(-1) != cols || w.shape.DType != x.shape.DType {
		return nil
	}
	return solve(problem.Norm{Rows: rows, Cols: cols, X: d, Out: d, RMS: true, Epsilon: epsilon}, dense("o", nil, rows, cols),
		dense("x", x, rows, cols), dense("w", w, 1, cols))
}

// number is that of which all elements of n are; 0 of others.
func number(n *node) float64 {
	for n != nil && n.op != nil && (n.op.kind == compute.OpTypeReshape || n.op.kind == compute.OpTypeBroadcastInDim) {
		n = n.op.inputs[0]
	}
	if n == nil || n.op == nil || n.op.flat == nil || n.shape.Size() != 1 {
		return 0
	}
	v := reflect.ValueOf(n.op.flat).Index(0)
	if !v.CanFloat() {
		return 0
	}
	return v.Float()
}

// turned are pairs of the halves of x's last axis, turned by angles that differ along that
// axis and one other.
func (p *patterns) turned(found map[string]*node, out *node) *task {
	dims, last := out.shape.Dimensions, out.shape.Rank()-1
	if last < 1 || out.shape.DType != dtypes.Float32 || !p.takes(out.shape) || out.shape.Size() < p.builder.backend.small/4 {
		return nil
	}
	half := dims[last] / 2
	var x *node
	for i, n := range []*node{found["a"], found["b"]} {
		if source(n) || n.op.kind != compute.OpTypeSlice || p.uses[n] != 2 || !n.op.inputs[0].shape.Equal(out.shape) || n.op.numbers[0][last] != i*half ||
			n.shape.Size() != out.shape.Size()/2 || n.shape.Dim(-1) != half || x != nil && n.op.inputs[0] != x {
			return nil
		}
		x = n.op.inputs[0]
	}
	axis, tables := -1, []view{{name: "x", node: x}}
	for _, name := range []string{"cos", "sin"} {
		n := found[name]
		axes := []int{0, 1, 2, 3, 4, 5, 6, 7}
		if n.op != nil && n.op.kind == compute.OpTypeBroadcastInDim {
			n, axes = n.op.inputs[0], n.op.numbers[0]
		}
		size := 1
		for i, d := range n.shape.Dimensions {
			if i < len(axes) && axes[i] < last && d > 1 {
				if axis >= 0 && axes[i] != axis {
					return nil
				}
				axis = axes[i]
			}
			size *= d
		}
		if axis < 0 || size != dims[axis]*half || n.shape.Dim(-1) != half || !slices.IsSorted(axes) {
			return nil
		}
		tables = append(tables, dense(name, n, dims[axis], half))
	}
	batch, heads := 1, 1
	for i, d := range dims[:last] {
		if i < axis {
			batch *= d
		} else if i > axis {
			heads *= d
		}
	}
	rows, dim := dims[axis], dims[last]
	tables[0].dims, tables[0].strides = []int{batch, heads, rows, dim}, []int{rows * heads * dim, dim, heads * dim, 1}
	to := tables[0]
	to.name, to.node = "o", nil
	return solve(problem.Rope{Batch: batch, Heads: heads, Rows: rows, Dim: dim, Dtype: dtypesOf[out.shape.DType]}, to, tables...)
}
