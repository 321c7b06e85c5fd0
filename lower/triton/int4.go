package triton

import (
	"math"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// An array of int4 has two elements to a byte, the first in the low half, over the whole array.
// Where rows are whole bytes and a block begins with one, its bytes are loaded once and parted;
// otherwise each element brings its byte. An output whose programs would share bytes has a byte
// for each element, and is packed behind the kernel.

// inBytes reports whether an array has a byte for each int4 element.
func inBytes(r *tile.Ref) bool {
	return r.Dtype.Bits() == 4 && r.Kind == tile.Out && !halves(r, nil, r.Shape())
}

// halves reports whether a part of an int4 array has whole bytes in each row.
func halves(r *tile.Ref, start []value, shape []int) bool {
	last := len(r.Array) - 1
	even := len(shape) > 0 && !r.Overlap() && r.Block[last] != tile.Squeezed && r.Array[last]%2 == 0 && r.Block[last]%2 == 0 && shape[len(shape)-1]%2 == 0
	if even && start != nil {
		n, known := start[len(start)-1].Int()
		even = known && n%2 == 0
	}
	return even
}

func (k *kernel) loadInt4(r *tile.Ref, start []value, shape, dims []int) value {
	if !halves(r, start, shape) {
		return k.loadNibbles(r, start, shape, dims)
	}
	w := k.bytes(r, start, shape)
	p := w.pointers(k)
	v := k.loadAt(shaped{Elem: "i8", Dims: w.dims}, p, w.mask(k))
	four := mlir.Number("i8", 4)
	low := k.Apply("arith.shrsi", k.Apply("arith.shli", v, four), four)
	high := k.Apply("arith.shrsi", v, four)
	pair := shaped{Elem: "i8", Dims: append(slices.Clone(w.dims), 2)}
	return k.Op(shaped{Elem: "i8", Dims: dims}, "tt.reshape", "", k.Op(pair, "tt.join", "", low, high))
}

// bytes is the window of the bytes of an int4 array.
func (k *kernel) bytes(r *tile.Ref, start []value, shape []int) *window {
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
		n, _ := start[len(start)-1].Int()
		start[len(start)-1] = k.Int(n / 2)
	}
	k.args[b] = k.args[r]
	dims := k.Physical(shape)
	return k.window(b, start, half(shape), half(dims))
}

// loadNibbles loads a byte for each element.
func (k *kernel) loadNibbles(r *tile.Ref, start []value, shape, dims []int) value {
	w := k.window(r, start, shape, dims)
	// The place of an element in the array is that of its address, were it a byte.
	place := w.offsets(k, k.vectorOf(k.elements(r, start), shaped{Elem: "i32", Dims: dims}))
	one := k.Constant(place.Type, 1)
	byteAt := k.cheap("arith.shrsi", place, one)
	arg := k.args[r]
	to := arg.Type
	to.Dims = dims
	p := k.Pure(to, "tt.addptr", "", k.Pure(to, "tt.splat", "", arg), byteAt)
	packed := shaped{Elem: "i8", Dims: dims}
	v := k.loadAt(packed, p, w.mask(k))
	// Up by 4 for the low half, by 0 for the high one; then down by 4 with the sign.
	four := k.Constant(place.Type, 4)
	high := k.cheap("arith.muli", k.cheap("arith.andi", place, one), four)
	up := k.Op(packed, "arith.trunci", "", k.cheap("arith.subi", four, high))
	return k.Apply("arith.shrsi", k.Apply("arith.shli", v, up), mlir.Number("i8", 4))
}

// elements is the place of a part's first element in its array.
func (k *kernel) elements(r *tile.Ref, start []value) value {
	if tile.Elements(r.Array) > math.MaxInt32 {
		k.Refuse("block", r.Name, "an int4 array whose blocks are no whole bytes may have 2³¹ elements at most")
		return k.Int(0)
	}
	at, stride, dim := k.Int(0), 1, len(r.Shape())-1
	for d := len(r.Array) - 1; d >= 0; d-- {
		x := k.Times(k.Index(r.Index[d]), r.Step(d))
		if r.Block[d] != tile.Squeezed {
			if start != nil {
				x = k.Sum(x, start[dim])
			}
			dim--
		}
		at = k.Sum(at, k.Times(x, stride))
		stride *= r.Array[d]
	}
	return at
}

// storeInt4 packs pairs of elements of a row into bytes.
func (k *kernel) storeInt4(r *tile.Ref, v value) {
	shape := r.Shape()
	w := k.bytes(r, nil, shape)
	dims := k.Physical(shape)
	v = k.Vector(v, shaped{Elem: "i8", Dims: dims})
	pair, packed := shaped{Elem: "i8", Dims: append(slices.Clone(w.dims), 2)}, shaped{Elem: "i8", Dims: w.dims}
	x := k.Op(pair, "tt.reshape", "", v)
	line, halves := k.Results([]shaped{packed, packed})
	k.Line("%stt.split %s : %s -> %s", line, x.Name, spelled(pair), spelled(packed))
	low, high := halves[0], halves[1]
	k.storeAt(w, k.Apply("arith.ori", k.Apply("arith.andi", low, mlir.Number("i8", 15)), k.Apply("arith.shli", high, mlir.Number("i8", 4))))
}
