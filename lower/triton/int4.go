package triton

import (
	"math"
	"slices"

	"matladder/tile"
)

// An array of int4 has two elements to a byte, the first in the low half, over the
// whole array. Where rows are whole bytes and a block begins with one, its bytes
// are loaded once and parted; otherwise each element brings its byte. An output
// whose programs would share bytes has a byte for each element, and is packed
// behind the kernel.

// inBytes reports whether an array has a byte for each int4 element.
func inBytes(r *tile.Ref) bool {
	return r.Dtype == tile.Int4 && r.Kind == tile.Out && !halves(r, nil, r.Shape())
}

// halves reports whether a part of an int4 array has whole bytes in each row.
func halves(r *tile.Ref, start []index, shape []int) bool {
	last := len(r.Array) - 1
	even := len(shape) > 0 && !r.Overlap() && r.Block[last] != tile.Squeezed && r.Array[last]%2 == 0 && r.Block[last]%2 == 0 && shape[len(shape)-1]%2 == 0
	if even && start != nil {
		at := start[len(start)-1]
		even = at.known && at.n%2 == 0
	}
	return even
}

func (k *kernel) loadInt4(r *tile.Ref, start []index, shape, dims []int) value {
	if !halves(r, start, shape) {
		return k.loadNibbles(r, start, shape, dims)
	}
	w := k.bytes(r, start, shape)
	p, mask := w.pointers(k), w.mask(k)
	packed := shaped{"i8", w.dims}
	var v value
	if mask == nil {
		v = k.op(packed, "tt.load %s : %s", p.name, p.shaped)
	} else {
		zero := k.constant(packed, 0)
		v = k.op(packed, "tt.load %s, %s, %s : %s", p.name, mask.name, zero.name, p.shaped)
	}
	four := constant("i8", 4)
	low := k.binary("arith.shrsi", k.binary("arith.shli", v, four), four)
	high := k.binary("arith.shrsi", v, four)
	pair := shaped{"i8", append(slices.Clone(w.dims), 2)}
	v = k.op(pair, "tt.join %s, %s : %s -> %s", low.name, high.name, packed, pair)
	to := shaped{"i8", dims}
	return k.op(to, "tt.reshape %s : %s -> %s", v.name, pair, to)
}

// bytes is the window of the bytes of an int4 array.
func (k *kernel) bytes(r *tile.Ref, start []index, shape []int) *window {
	half := func(ns []int) []int {
		out := slices.Clone(ns)
		if last := len(out) - 1; out[last] > 0 {
			out[last] /= 2
		}
		return out
	}
	b := &tile.Ref{Name: r.Name, Kind: r.Kind, Dtype: tile.Int8, Array: half(r.Array), Block: half(r.Block), Index: r.Index, Pos: r.Pos}
	if start != nil {
		start = slices.Clone(start)
		start[len(start)-1].n /= 2
	}
	k.args[b] = k.args[r]
	dims := physical(shape, k.least)
	return k.window(b, start, half(shape), half(dims))
}

// loadNibbles loads a byte for each element.
func (k *kernel) loadNibbles(r *tile.Ref, start []index, shape, dims []int) value {
	w := k.window(r, start, shape, dims)
	// The place of an element in the array is that of its address, were it a byte.
	base := w.base
	w.base = value{name: "%none", shaped: base.shaped}
	at := k.elements(r, start)
	place := k.vectorWide(at, dims)
	for d := range dims {
		if dims[d] == 1 || w.stride[d] == 0 {
			continue
		}
		x := k.along(d, dims)
		if w.stride[d] != 1 {
			x = k.cheap("arith.muli", x, k.constant(x.shaped, float64(w.stride[d])))
		}
		place = k.cheap("arith.addi", place, k.spread(x, dims))
	}
	one := k.constant(place.shaped, 1)
	byteAt := k.cheap("arith.shrsi", place, one)
	arg := k.args[r]
	to := shaped{arg.elem, dims}
	p := k.pure(to, []value{arg}, "tt.splat %s : %s -> %s", arg.name, arg.shaped, to)
	p = k.pure(to, []value{p, byteAt}, "tt.addptr %s, %s : %s, %s", p.name, byteAt.name, to, byteAt.shaped)
	packed := shaped{"i8", dims}
	var v value
	if mask := w.mask(k); mask == nil {
		v = k.op(packed, "tt.load %s : %s", p.name, to)
	} else {
		zero := k.constant(packed, 0)
		v = k.op(packed, "tt.load %s, %s, %s : %s", p.name, mask.name, zero.name, to)
	}
	// Up by 4 for the low half, by 0 for the high one; then down by 4 with the sign.
	four := k.constant(place.shaped, 4)
	high := k.cheap("arith.muli", k.cheap("arith.andi", place, one), four)
	up := k.op(packed, "arith.trunci %s : %s to %s", k.cheap("arith.subi", four, high).name, place.shaped, packed)
	return k.binary("arith.shrsi", k.binary("arith.shli", v, up), constant("i8", 4))
}

// elements is the place of a part's first element in its array.
func (k *kernel) elements(r *tile.Ref, start []index) index {
	if tile.Elements(r.Array) > math.MaxInt32 {
		k.refuse("block", r.Name, "an int4 array whose blocks are no whole bytes may have 2³¹ elements at most")
		return knownIndex(0)
	}
	at, stride, dim := knownIndex(0), 1, len(r.Shape())-1
	for d := len(r.Array) - 1; d >= 0; d-- {
		x := k.indices().Times(k.index(r.Index[d]), r.Step(d))
		if r.Block[d] != tile.Squeezed {
			if start != nil {
				x = k.indices().Sum(x, start[dim])
			}
			dim--
		}
		at = k.indices().Sum(at, k.indices().Times(x, stride))
		stride *= r.Array[d]
	}
	return at
}

func (k *kernel) vectorWide(x index, dims []int) value { return k.vectorOf(x, shaped{"i32", dims}) }

// storeInt4 packs pairs of elements of a row into bytes.
func (k *kernel) storeInt4(r *tile.Ref, v value) {
	shape := r.Shape()
	w := k.bytes(r, nil, shape)
	dims := physical(shape, k.least)
	v = k.vector(v, shaped{"i8", dims})
	pair, packed := shaped{"i8", append(slices.Clone(w.dims), 2)}, shaped{"i8", w.dims}
	x := k.op(pair, "tt.reshape %s : %s -> %s", v.name, v.shaped, pair)
	base := k.fresh(packed).name
	k.line("%s:2 = tt.split %s : %s -> %s", base, x.name, pair, packed)
	low := value{name: base + "#0", shaped: packed, level: k.level()}
	high := value{name: base + "#1", shaped: packed, level: k.level()}
	b := k.binary("arith.ori", k.binary("arith.andi", low, constant("i8", 15)), k.binary("arith.shli", high, constant("i8", 4)))
	p, mask := w.pointers(k), w.mask(k)
	if mask == nil {
		k.line("tt.store %s, %s : %s", p.name, b.name, p.shaped)
	} else {
		k.line("tt.store %s, %s, %s : %s", p.name, b.name, mask.name, p.shaped)
	}
}
