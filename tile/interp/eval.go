package interp

import (
	"matladder/internal/each"
	"matladder/tile"
)

// eval returns the value of e. Within one statement an expression is evaluated
// once. What it returns is read-only, and meaningless once m.err is set.
func (m *machine) eval(e *tile.Expr) block {
	if b, ok := m.memo[e]; ok {
		return b
	}
	args := each.Of(e.Args, m.eval)
	if m.err != nil {
		return block{}
	}
	b := m.apply(e, args)
	m.memo[e] = b
	return b
}

// apply returns the value of e from those of its operands.
func (m *machine) apply(e *tile.Expr, args []block) block {
	switch e.Op {
	case tile.OpLoad:
		return m.byRef[e.Ref].load()
	case tile.OpConst:
		if e.Dtype == tile.InvalidDtype {
			return block{val: []float64{e.Value}}
		}
		return block{val: []float64{e.Dtype.Round(e.Value)}}
	case tile.OpIndex:
		return block{val: []float64{wrap(tile.Int32, int64(tile.Eval(e.Index, m)))}}
	case tile.OpIota:
		return iota(e)
	case tile.OpInBounds:
		return m.inBounds(e)
	case tile.OpDot:
		return m.dot(e, args[0], args[1])
	case tile.OpSelect:
		return selectBlock(args[0], args[1], args[2])
	case tile.OpAnd:
		return logical(args[0], args[1], 0)
	case tile.OpOr:
		return logical(args[0], args[1], 1)
	case tile.OpReduceMax, tile.OpReduceSum:
		return reduce(e, args[0])
	case tile.OpBroadcast:
		return broadcast(e, args[0])
	case tile.OpCast:
		return map1(args[0], e.Dtype.Round)
	case tile.OpSlice:
		return m.slice(e, args[0])
	case tile.OpConcat:
		return concat(e, args)
	}
	if len(args) == 1 {
		return map1(args[0], unary(e.Op, e.Dtype))
	}
	return map2(args[0], args[1], binary(e))
}

// dims splits a shape around dimension d: how many elements are before it, along it, and after it.
func dims(shape []int, d int) (outer, n, inner int) {
	return int(tile.Elements(shape[:d])), shape[d], int(tile.Elements(shape[d+1:]))
}

func iota(e *tile.Expr) block {
	b := newBlock(e.Shape)
	_, n, inner := dims(e.Shape, e.Dim)
	for i := range b.val {
		b.val[i] = float64(i / inner % n)
	}
	return b
}

// inBounds compares coordinates along the ref's dimension with the array; its
// shape has one dimension that is not 1, if any.
func (m *machine) inBounds(e *tile.Expr) block {
	b := newBlock(e.Shape)
	n := len(b.val)
	if e.Ref.Kind == tile.In || e.Ref.Kind == tile.Out {
		n = m.byRef[e.Ref].inside(e.Ref.ArrayDim(e.Dim))
	}
	for i := range n {
		b.val[i] = 1
	}
	return b
}

// reduce takes the largest or the sum along one dimension. Padding anywhere
// along it spoils the result, and no mask can repair that later.
func reduce(e *tile.Expr, x block) block {
	b := newBlock(e.Shape)
	_, n, inner := dims(e.Args[0].Shape, e.Dim)
	for i := range b.val {
		from := i/inner*n*inner + i%inner
		y, s := x.val[from], x.at(from)
		for j := from + inner; j < from+n*inner; j += inner {
			s |= x.at(j)
			if e.Op == tile.OpReduceMax {
				y = larger(y, x.val[j])
			} else {
				y += x.val[j]
			}
		}
		if e.Dtype.IsInteger() {
			y = wrap(e.Dtype, int64(y))
		}
		b.val[i] = y
		b.setState(i, s.lose(padBit(e.Dim, len(e.Shape))))
	}
	return b
}

// broadcast repeats x. Padding along a dimension of size 1 is in every copy, and
// no longer padding of that dimension.
func broadcast(e *tile.Expr, x block) block {
	from := e.Args[0].Shape
	b := newBlock(e.Shape)
	if len(x.val) == 1 && x.state == nil {
		for i := range b.val {
			b.val[i] = x.val[0]
		}
		return b
	}
	rank := len(e.Shape)
	var lost state // dimensions along which x is repeated
	stride := make([]int, rank)
	for d, step := rank-1, 1; d >= rank-len(from); d-- {
		n := from[d-(rank-len(from))]
		if n == 1 && e.Shape[d] > 1 {
			lost |= padBit(d, rank)
		} else {
			stride[d] = step
		}
		step *= n
	}
	at := make([]int, rank)
	for i := range b.val {
		src := 0
		for d, c := range at {
			src += c * stride[d]
		}
		b.val[i] = x.val[src]
		b.setState(i, x.at(src).lose(lost))
		for d := rank - 1; d >= 0; d-- {
			if at[d]++; at[d] < e.Shape[d] {
				break
			}
			at[d] = 0
		}
	}
	return b
}

// slice takes elements along one dimension.
func (m *machine) slice(e *tile.Expr, x block) block {
	outer, size, inner := dims(e.Args[0].Shape, e.Dim)
	start, n := tile.Eval(e.Index, m), e.Shape[e.Dim]
	if m.err == nil && (start < 0 || start+n > size) {
		m.fail("slice%s takes elements %d to %d of dimension %d, whose size is %d", m.where(), start, start+n-1, e.Dim, size)
	}
	b := newBlock(e.Shape)
	if m.err != nil {
		return b
	}
	for o := range outer {
		copyElements(&b, o*n*inner, x, (o*size+start)*inner, n*inner)
	}
	return b
}

// concat puts blocks one after another along one dimension.
func concat(e *tile.Expr, args []block) block {
	b := newBlock(e.Shape)
	outer, size, inner := dims(e.Shape, e.Dim)
	start := 0
	for i, x := range args {
		n := e.Args[i].Shape[e.Dim]
		for o := range outer {
			copyElements(&b, (o*size+start)*inner, x, o*n*inner, n*inner)
		}
		start += n
	}
	return b
}

// copyElements copies n elements of src, from j on, to dst, from i on.
func copyElements(dst *block, i int, src block, j, n int) {
	copy(dst.val[i:i+n], src.val[j:j+n])
	if src.state != nil {
		for c := range n {
			dst.setState(i+c, src.state[j+c])
		}
	}
}
