package gomlx

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"

	"matladder"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// product is a DotGeneral, or a dense layer, whose axes have names: letters that two of x, y
// and o share are one axis, as in einsum. Those of all three are the batch's, those of x and y
// are summed.
type product struct {
	x, y, bias *node
	xs, ys, o  []rune
	sizes      map[rune]int
	activation problem.Activation
}

// product names the axes, without those of one element, and makes one of axes that lie side
// by side wherever they are. It is nil where there is nothing to sum, or no row, and where
// the product is too small.
func (f *function) product(x *node, xSum, xBatch []int, y *node, ySum, yBatch []int) *product {
	p := &product{x: x, y: y, sizes: map[rune]int{}}
	p.xs, p.ys = make([]rune, x.shape.Rank()), make([]rune, y.shape.Rank())
	letter := 'a'
	pair := func(xAxes, yAxes []int) (named []rune) {
		for i, axis := range xAxes {
			p.xs[axis], p.ys[yAxes[i]] = letter, letter
			named = append(named, letter)
			letter++
		}
		return named
	}
	p.o = pair(xBatch, yBatch)
	pair(xSum, ySum)
	work := 1
	for _, side := range []struct {
		names []rune
		dims  []int
	}{{p.xs, x.shape.Dimensions}, {p.ys, y.shape.Dimensions}} {
		for i := range side.names {
			if side.names[i] == 0 {
				side.names[i] = letter
				p.o = append(p.o, letter)
				letter++
			}
			if _, ok := p.sizes[side.names[i]]; !ok {
				work *= side.dims[i]
			}
			p.sizes[side.names[i]] = side.dims[i]
		}
	}
	if work < f.builder.backend.small {
		return nil
	}
	one := func(r rune) bool { return p.sizes[r] == 1 }
	for _, list := range []*[]rune{&p.xs, &p.ys, &p.o} {
		*list = slices.DeleteFunc(*list, one)
	}
	for p.merge() {
	}
	if len(p.axes(p.xs, p.ys, false)) == 0 || len(p.o) == len(p.axes(p.xs, p.ys, true)) {
		return nil
	}
	return p
}

// axes are those of both lists that are in o, or are not.
func (p *product) axes(xs, ys []rune, inOut bool) []rune {
	return each.That(xs, func(r rune) bool { return slices.Contains(ys, r) && slices.Contains(p.o, r) == inOut })
}

// merge makes one axis of two that follow each other wherever one of them is.
func (p *product) merge() bool {
	for _, list := range [][]rune{p.xs, p.ys} {
		for i := range max(len(list), 1) - 1 {
			a, b := list[i], list[i+1]
			apart := func(other []rune) bool {
				at, behind := slices.Index(other, a), slices.Index(other, b)
				return at != behind && (at < 0 || behind != at+1)
			}
			if apart(p.xs) || apart(p.ys) || apart(p.o) {
				continue
			}
			p.sizes[a] *= p.sizes[b]
			for _, other := range []*[]rune{&p.xs, &p.ys, &p.o} {
				*other = slices.DeleteFunc(*other, func(r rune) bool { return r == b })
			}
			return true
		}
	}
	return false
}

// largest is the axis of the most elements; 0 of none.
func (p *product) largest(list []rune) (best rune) {
	for _, r := range list {
		if best == 0 || p.sizes[r] > p.sizes[best] {
			best = r
		}
	}
	return best
}

// dims are the sizes of axes, in order.
func (p *product) dims(list []rune) []int {
	return each.Of(list, func(r rune) int { return p.sizes[r] })
}

// task is the product as a tile program on the arrays as they lie: blocks are of one axis of
// each kind, and the grid goes along all others. Along the last axis of an array elements
// have no gaps, so a block is of that one; where it is the batch's, or two of them are
// summed, arrays are transposed first. It is nil where matladder has no such product.
func (p *product) task(out shapes.Shape) *task {
	d, ok := dtypesOf[p.x.shape.DType]
	to, okOut := dtypesOf[out.DType]
	acc := tile.DotResult(d, d)
	if !ok || !okOut || acc == tile.InvalidDtype || p.x.shape.DType != p.y.shape.DType || acc.IsInteger() != to.IsInteger() || p.bias != nil && !p.bias.shape.DType.IsFloat() {
		return nil
	}
	kind := func(r rune, other []rune) (batch, summed, free bool) {
		shared, kept := slices.Contains(other, r), slices.Contains(p.o, r)
		return shared && kept, !kept, !shared
	}
	if len(without(p.ys, p.xs)) == 0 {
		if p.bias != nil {
			return nil
		}
		p.x, p.y, p.xs, p.ys = p.y, p.x, p.ys, p.xs
	}
	lastX, lastY := p.xs[len(p.xs)-1], p.ys[len(p.ys)-1]
	batchX, summedX, freeX := kind(lastX, p.ys)
	batchY, summedY, _ := kind(lastY, p.xs)
	if batchX || batchY || summedX && summedY && lastX != lastY {
		return nil
	}

	w := writing{product: *p, d: d, acc: acc, out: to}
	w.n = p.o[len(p.o)-1]
	switch {
	case summedX:
		w.k = lastX
	case summedY:
		w.k = lastY
	default:
		w.k = p.largest(p.axes(p.xs, p.ys, false))
	}
	if w.m = p.largest(without(p.xs, p.ys)); freeX {
		w.m = lastX
	}
	if w.m == 0 { // one row
		w.m = '1'
		w.sizes[w.m] = 1
		w.xs = slices.Concat([]rune{w.m}, p.xs)
		w.o = slices.Insert(slices.Clone(p.o), len(p.o)-1, w.m)
	}
	if max(len(w.xs), len(w.ys), len(w.o)) > matladder.MaxRank {
		return nil
	}
	args := []view{dense("x", p.x, w.dims(w.xs)...), dense("y", p.y, w.dims(w.ys)...)}
	if p.bias != nil {
		args = append(args, dense("bias", p.bias, 1, w.sizes[w.n]))
		w.biased = dtypesOf[p.bias.shape.DType]
	}
	sizes := [][]int{w.dims(w.xs), w.dims(w.ys), w.dims(w.o)}
	return &task{
		key: fmt.Sprintln(string(w.xs), string(w.ys), string(w.o), sizes, w.m, w.k, w.n, d, to, w.biased, p.activation), compile: w.compile,
		args: args, out: dense("o", nil, w.dims(w.o)...), product: p,
	}
}

// without are the axes of a list that are not in another.
func without(list, other []rune) []rune {
	return slices.DeleteFunc(slices.Clone(list), func(r rune) bool { return slices.Contains(other, r) })
}

// writing is a product that is written as a tile program.
type writing struct {
	product
	m, k, n     rune // the axes of blocks
	d, acc, out tile.Dtype
	biased      tile.Dtype // of a bias
}

func (w writing) compile(ctx context.Context, o matladder.Options) (*matladder.Program, error) {
	s, err := matladder.Blocks(ctx, problem.New(w.sizes[w.m], w.sizes[w.k], w.sizes[w.n], w.d), o)
	if err != nil {
		return nil, err
	}
	programs, err := w.write(s)
	if err != nil {
		return nil, err
	}
	return matladder.CompileTile(ctx, programs, o)
}

func (w writing) write(s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("product")
	at := map[rune]tile.IndexExpr{}
	blocks := map[rune]int{w.m: s.M, w.k: s.K, w.n: s.N}
	var first, last []tile.Cond
	axis := func(r rune, semantics tile.Semantics) {
		a := t.Axis(string(r), tile.Ceil(w.sizes[r], max(1, blocks[r])), semantics)
		at[r] = a
		if semantics == tile.Arbitrary {
			first, last = append(first, a.First()), append(last, a.Last())
		}
	}
	for _, r := range without(w.o, []rune{w.m, w.n}) {
		axis(r, tile.Parallel)
	}
	axis(w.m, tile.Parallel)
	axis(w.n, tile.Parallel)
	summed := w.axes(w.xs, w.ys, false)
	for _, r := range append(without(summed, []rune{w.k}), w.k) {
		axis(r, tile.Arbitrary)
	}
	spec := func(list []rune) (tile.ArrayShape, tile.BlockSpec) {
		block, index := make([]int, len(list)), make([]tile.IndexExpr, len(list))
		for i, r := range list {
			block[i], index[i] = cmp.Or(blocks[r], tile.Squeezed), at[r]
		}
		return tile.Array(w.dims(list)...), tile.Block(block...).At(index...)
	}
	in := func(name string, list []rune) *tile.Ref {
		array, block := spec(list)
		return t.In(name, w.d, array, block)
	}
	x, y := in("x", w.xs), in("y", w.ys)
	var bias *tile.Ref
	if w.bias != nil {
		bias = t.In("bias", w.biased, tile.Array(1, w.sizes[w.n]), tile.Block(1, s.N).At(tile.Const(0), at[w.n]))
	}
	array, block := spec(w.o)
	o := t.Out("o", w.out, array, block)
	acc := t.Scratch("acc", w.acc, s.M, s.N)
	var options []tile.DotOption
	if slices.Index(w.xs, w.k) < slices.Index(w.xs, w.m) {
		options = append(options, tile.TransA)
	}
	if slices.Index(w.ys, w.n) < slices.Index(w.ys, w.k) {
		options = append(options, tile.TransB)
	}
	t.When(tile.All(first...), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, y, options...))
	t.When(tile.All(last...), func() { t.Store(o, tile.Cast(w.epilogue(acc, bias), w.out)) })
	return t.Programs()
}

// epilogue is what is stored of a sum.
func (w writing) epilogue(acc, bias *tile.Ref) tile.Value {
	var v tile.Value = acc
	if bias != nil {
		v = tile.Add(v, tile.Cast(bias, w.acc))
	}
	switch w.activation {
	case problem.Relu:
		return tile.Relu(v)
	case problem.Gelu:
		return tile.Gelu(v)
	case problem.Silu:
		return tile.Silu(v)
	}
	return v
}
