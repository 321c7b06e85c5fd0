package triton

import (
	"fmt"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// load is the whole block of a ref.
func (k *kernel) load(r *tile.Ref) value {
	if r.Kind == tile.Scratch {
		return k.scratch[r]
	}
	if v, ok := k.loads[r]; ok {
		return v
	}
	v := k.loadFrom(r, nil, r.Shape(), nil)
	k.loads[r] = v
	return v
}

// loadFrom reads what of a block lies from some place on; nil is the beginning.
// What is past the end of the array or of shape is zero, and where shown, unless nil, does not hold.
func (k *kernel) loadFrom(r *tile.Ref, start []value, shape []int, shown *tile.Expr) value {
	dims := k.Physical(shape)
	if r.Kind == tile.Out && k.written {
		k.barrier() // another thread may have stored what this one loads
	}
	if r.Dtype.Bits() == 4 && !inBytes(r) {
		return k.loadInt4(r, start, shape, dims)
	}
	w := k.window(r, start, shape, dims)
	p, mask := w.pointers(k), w.mask(k)
	if shown != nil {
		is := k.Vector(k.Expr(shown), shaped{Elem: "i1", Dims: dims})
		if len(mask) > 0 {
			is = k.Op(is.Type, "arith.andi", "", mask[0], is)
		}
		mask = []value{is}
	}
	return k.loadAt(shaped{Elem: storage[r.Dtype], Dims: dims}, p, mask)
}

// loadAt reads what pointers show: where a mask does not hold, zero.
func (k *kernel) loadAt(to shaped, p value, mask []value) value {
	if len(mask) > 0 {
		mask = append(mask, k.Constant(to, 0))
	}
	return k.Op(to, "tt.load", "", append([]value{p}, mask...)...)
}

// barrier has the threads of a program wait for each other, and see what each has stored.
//
// Triton gives a load and a store of one block layouts of their own, so that an element may
// be loaded by another thread than stored it, and puts barriers between accesses of shared
// memory alone, not of the arrays of a kernel: what stores and reads back has to say where
// threads wait (triton-lang/triton issue 10924). v3 and v4 do so each step along k. The
// operation is MLIR's gpu.barrier: all threads of the block wait, and see what was stored to
// any memory (PTX's bar.sync). It may stand in a loop or a branch, whose
// counts and conditions are scalars and so the same for all threads.
//
// Adding to a block needs none between its load and its store: an element is stored by a
// thread that has its sum, which whoever loaded it made of it, and of threads that hold the
// same element Triton lets one store. A block that is loaded for anything else needs one.
func (k *kernel) barrier() { k.Line("gpu.barrier") }

// store writes a value of the ref's dtype to the whole block of an output. What
// is past the end of the array is dropped.
func (k *kernel) store(r *tile.Ref, v value) {
	if r.Dtype.Bits() == 4 && !inBytes(r) {
		if k.alongK[r] {
			v = k.transposed(v)
		}
		k.storeInt4(r, v)
		k.written = true
		return
	}
	shape := r.Shape()
	v = k.Vector(v, shaped{Elem: storage[r.Dtype], Dims: stored(v, k.Physical(shape))})
	w := k.window(r, nil, shape, v.Dims)
	k.storeAt(w, v)
	k.written = true
}

func (k *kernel) storeAt(w *window, v value) {
	p := w.pointers(k)
	k.Do("tt.store", "", append([]value{p, v}, w.mask(k)...)...)
}

// stored are the dimensions of v once it fills Dims: rows and columns that a
// product made alike stay.
func stored(v value, dims []int) []int {
	out := slices.Clone(dims)
	if len(v.Dims) == len(dims) {
		for d := range out {
			out[d] = max(out[d], v.Dims[d])
		}
	}
	return out
}

// window is a part of an array, as a tensor of Dims: shape without its squeezed dimensions, padded.
type window struct {
	ref    *tile.Ref
	dims   []int
	sizes  []int   // of shape, as many as dims
	stride []int   // in elements of the array
	inside []value // how many elements of the array there are from the start on
	base   value   // pointer to the first element
}

// window makes the part of a ref's block that begins at start.
func (k *kernel) window(r *tile.Ref, start []value, shape, dims []int) *window {
	w := &window{ref: r, dims: dims, sizes: make([]int, len(dims)), stride: make([]int, len(dims)), inside: make([]value, len(dims))}
	lead := len(dims) - len(shape)
	for d := range lead {
		w.sizes[d], w.inside[d] = 1, k.Int(math.MaxInt32)
	}
	dim, strides := len(shape)-1, k.strides(r)
	var places []place
	for d := len(r.Array) - 1; d >= 0; d-- {
		at := k.Times(k.Index(r.Index[d]), r.Step(d))
		if r.Block[d] != tile.Squeezed {
			if start != nil {
				at = k.Sum(at, start[dim])
			}
			w.sizes[lead+dim], w.stride[lead+dim] = shape[dim], strides[d]
			w.inside[lead+dim] = k.insideFrom(r, dim, at)
			dim--
		}
		places = append(places, place{at, strides[d]})
	}
	w.base = k.offset(k.args[r], places)
	return w
}

// strides are how many elements neighbours along each dimension of an array are apart.
func (k *kernel) strides(r *tile.Ref) []int {
	strides, stride := make([]int, len(r.Array)), 1
	for _, d := range fastest(r, k.alongK[r]) {
		strides[d] = stride
		stride *= r.Array[d]
	}
	return strides
}

// fastest are the dimensions of an array by how far neighbours are apart: the last is the
// fastest, or the last but one.
func fastest(r *tile.Ref, turned bool) []int {
	order := each.Upto(len(r.Array), func(i int) int { return len(r.Array) - 1 - i })
	if turned {
		order[0], order[1] = order[1], order[0]
	}
	return order
}

// place is an index along a dimension whose elements are stride apart.
type place struct {
	at     value
	stride int
}

// insideFrom is how many elements of r's array there are from at on; more than any block
// has where none of r goes beyond it.
func (k *kernel) insideFrom(r *tile.Ref, dim int, at value) value {
	n := r.Array[r.ArrayDim(dim)]
	from, known := at.Int()
	switch {
	case known:
		return k.Int(n - from)
	case !r.Partial(dim):
		return k.Int(math.MaxInt32)
	}
	return k.Scalar("arith.subi", k.Int(n), at)
}

var wide = shaped{Elem: "i64"}

// offset moves a pointer: scalars, in 64 bits, since an array may have more
// elements than 32 bits count.
func (k *kernel) offset(p value, places []place) value {
	fixed, moved := 0, p
	slices.SortStableFunc(places, func(x, y place) int { return x.at.Level - y.at.Level }) // what a loop changes last
	add := func(x value) { moved = k.Pure(p.Type, "tt.addptr", "", moved, x) }
	for _, l := range places {
		if n, known := l.at.Int(); known {
			fixed += n * l.stride
			continue
		}
		x := k.Pure(wide, "arith.extsi", "", l.at)
		if l.stride != 1 {
			x = k.Pure(wide, "arith.muli", "", x, mlir.Number("i64", float64(l.stride)))
		}
		add(x)
	}
	if fixed != 0 {
		add(mlir.Number("i64", float64(fixed)))
	}
	return moved
}

// pointers are the addresses of the elements.
func (w *window) pointers(k *kernel) value {
	span := 0
	for d, n := range w.dims {
		span += (n - 1) * w.stride[d]
	}
	if int(int32(span)) != span {
		k.Refuse("block", w.ref.Name, fmt.Sprintf("its elements are up to %d apart: addresses inside a block have 31 bits", span))
		return w.base
	}
	to := shaped{Elem: w.base.Elem, Dims: w.dims}
	p := k.Pure(to, "tt.splat", "", w.base)
	at := w.offsets(k, value{})
	if at.Name == "" {
		return p
	}
	return k.Pure(to, "tt.addptr", "", p, at)
}

// offsets are how many elements of the array lie between the first and each, behind at.
func (w *window) offsets(k *kernel, at value) value {
	for d := range w.dims {
		if w.dims[d] == 1 || w.stride[d] == 0 {
			continue
		}
		x := k.along(d, w.dims)
		if w.stride[d] != 1 {
			x = k.cheap("arith.muli", x, k.Constant(x.Type, float64(w.stride[d])))
		}
		if x = k.spread(x, w.dims); at.Name != "" {
			x = k.cheap("arith.addi", at, x)
		}
		at = x
	}
	return at
}

// mask tells the elements that exist; none if all do.
func (w *window) mask(k *kernel) (all []value) {
	for d, n := range w.dims {
		limit := w.inside[d]
		if most, known := limit.Int(); known {
			if most = min(most, w.sizes[d]); most >= n {
				continue
			}
			limit = k.Int(most)
		} else if w.sizes[d] < n {
			limit = k.Scalar("arith.minsi", limit, k.Int(w.sizes[d]))
		}
		x := k.spread(k.Below(d, w.dims, limit), w.dims)
		if len(all) > 0 {
			x = k.cheap("arith.andi", all[0], x)
		}
		all = []value{x}
	}
	return all
}

// along counts along dimension d of dims, 1 elsewhere.
func (k *kernel) along(d int, dims []int) value {
	v := k.Pure(shaped{Elem: "i32", Dims: dims[d : d+1]}, "tt.make_range", fmt.Sprintf("{start = 0 : i32, end = %d : i32}", dims[d]))
	for other := range dims {
		switch {
		case other < d:
			v = k.Pure(shaped{Elem: "i32", Dims: slices.Insert(slices.Clone(v.Dims), 0, 1)}, "tt.expand_dims", axis(other), v)
		case other > d:
			v = k.Pure(shaped{Elem: "i32", Dims: append(slices.Clone(v.Dims), 1)}, "tt.expand_dims", axis(other), v)
		}
	}
	return v
}

// Below is whether the coordinate along dim is less than limit, of 1 along the others.
func (k *kernel) Below(dim int, dims []int, limit value) value {
	at := k.along(dim, dims)
	return k.Pure(at.Of("i1"), "arith.cmpi", "slt", at, k.vectorOf(limit, at.Type))
}

// vectorOf is an index in every element.
func (k *kernel) vectorOf(x value, to shaped) value {
	if n, known := x.Known(); known {
		return k.Constant(to, n)
	}
	return k.Pure(to, "tt.splat", "", x)
}

// cheap is an operation on tensors of one type that are part of an address or a mask.
func (k *kernel) cheap(op string, x, y value) value { return k.Pure(x.Type, op, "", x, y) }

// spread repeats x along dimensions of 1.
func (k *kernel) spread(x value, dims []int) value {
	if slices.Equal(x.Dims, dims) {
		return x
	}
	return k.Pure(shaped{Elem: x.Elem, Dims: dims}, "tt.broadcast", "", x)
}
