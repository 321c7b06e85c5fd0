package triton

import (
	"fmt"
	"math"
	"slices"

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
func (k *kernel) loadFrom(r *tile.Ref, start []index, shape []int, shown *tile.Expr) value {
	dims := physical(shape, k.least)
	if r.Kind == tile.Out && k.written {
		k.barrier() // another thread may have stored what this one loads
	}
	if r.Dtype == tile.Int4 && !inBytes(r) {
		return k.loadInt4(r, start, shape, dims)
	}
	w := k.window(r, start, shape, dims)
	p, mask := w.pointers(k), w.mask(k)
	if shown != nil {
		is := k.vector(k.expr(shown), shaped{"i1", dims})
		if mask != nil {
			is = k.op(is.shaped, "arith.andi %s, %s : %s", mask.name, is.name, is.shaped)
		}
		mask = &is
	}
	if mask == nil {
		return k.op(shaped{storage[r.Dtype], dims}, "tt.load %s : %s", p.name, p.shaped)
	}
	zero := k.constant(shaped{storage[r.Dtype], dims}, 0)
	return k.op(zero.shaped, "tt.load %s, %s, %s : %s", p.name, mask.name, zero.name, p.shaped)
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
func (k *kernel) barrier() { k.line("gpu.barrier") }

// store writes a value of the ref's dtype to the whole block of an output. What
// is past the end of the array is dropped.
func (k *kernel) store(r *tile.Ref, v value) {
	if r.Dtype == tile.Int4 && !inBytes(r) {
		k.storeInt4(r, v)
		k.written = true
		return
	}
	shape := r.Shape()
	if v.number != nil {
		v = k.vector(v, shaped{storage[r.Dtype], physical(shape, k.least)})
	}
	v = k.vector(v, shaped{v.elem, stored(v, physical(shape, k.least))})
	w := k.window(r, nil, shape, v.dims)
	p, mask := w.pointers(k), w.mask(k)
	if mask == nil {
		k.line("tt.store %s, %s : %s", p.name, v.name, p.shaped)
	} else {
		k.line("tt.store %s, %s, %s : %s", p.name, v.name, mask.name, p.shaped)
	}
	k.written = true
}

// stored are the dimensions of v once it fills dims: rows and columns that a
// product made alike stay.
func stored(v value, dims []int) []int {
	out := append([]int(nil), dims...)
	if len(v.dims) == len(dims) {
		for d := range out {
			out[d] = max(out[d], v.dims[d])
		}
	}
	return out
}

// window is a part of an array, as a tensor of dims: shape without its squeezed
// dimensions, padded.
type window struct {
	ref    *tile.Ref
	dims   []int
	sizes  []int   // of shape, as many as dims
	stride []int   // in elements of the array
	inside []index // how many elements of the array there are from the start on; nil value and not known where it is enough
	base   value   // pointer to the first element
}

// window makes the part of a ref's block that begins at start.
func (k *kernel) window(r *tile.Ref, start []index, shape, dims []int) *window {
	w := &window{ref: r, dims: dims, sizes: make([]int, len(dims)), stride: make([]int, len(dims)), inside: make([]index, len(dims))}
	lead := len(dims) - len(shape)
	for d := range lead {
		w.sizes[d], w.inside[d] = 1, knownIndex(math.MaxInt32)
	}
	dim, strides := len(shape)-1, k.strides(r)
	var places []place
	for d := len(r.Array) - 1; d >= 0; d-- {
		at := k.indices().Times(k.index(r.Index[d]), r.Step(d))
		if r.Block[d] != tile.Squeezed {
			if start != nil {
				at = k.indices().Sum(at, start[dim])
			}
			w.sizes[lead+dim], w.stride[lead+dim] = shape[dim], strides[d]
			w.inside[lead+dim] = k.insideFrom(r, dim, at, shape[dim], start != nil)
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
	order := make([]int, len(r.Array))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	if turned {
		order[0], order[1] = order[1], order[0]
	}
	return order
}

// place is an index along a dimension whose elements are stride apart.
type place struct {
	at     index
	stride int
}

// insideFrom is how many elements of r's array there are from at on, as far as
// that may be fewer than size.
func (k *kernel) insideFrom(r *tile.Ref, dim int, at index, size int, part bool) index {
	n := r.Array[r.ArrayDim(dim)]
	switch {
	case at.known:
		return knownIndex(n - at.n)
	case !r.Overhangs(dim):
		return knownIndex(math.MaxInt32)
	}
	return k.scalar("arith.subi", knownIndex(n), at)
}

var wide = shaped{elem: "i64"}

// offset moves a pointer: scalars, in 64 bits, since an array may have more
// elements than 32 bits count.
func (k *kernel) offset(p value, places []place) value {
	known, moved := 0, p
	slices.SortStableFunc(places, func(x, y place) int { return x.at.level - y.at.level }) // what a loop changes last
	for _, l := range places {
		if l.at.known {
			known += l.at.n * l.stride
			continue
		}
		x := k.pure(wide, []value{l.at.value}, "arith.extsi %s : i32 to i64", l.at.name)
		if l.stride != 1 {
			by := k.constant64(l.stride)
			x = k.pure(wide, []value{x, by}, "arith.muli %s, %s : i64", x.name, by.name)
		}
		moved = k.pure(p.shaped, []value{moved, x}, "tt.addptr %s, %s : %s, i64", moved.name, x.name, p.shaped)
	}
	if known != 0 {
		by := k.constant64(known)
		moved = k.pure(p.shaped, []value{moved, by}, "tt.addptr %s, %s : %s, i64", moved.name, by.name, p.shaped)
	}
	return moved
}

func (k *kernel) constant64(n int) value {
	return k.pure(wide, nil, "arith.constant %d : i64", n)
}

// pointers are the addresses of the elements.
func (w *window) pointers(k *kernel) value {
	span := 0
	for d, n := range w.dims {
		span += (n - 1) * w.stride[d]
	}
	if !int32Fits(span) {
		k.refuse("block", w.ref.Name, fmt.Sprintf("its elements are up to %d apart: addresses inside a block have 31 bits", span))
		return w.base
	}
	to := shaped{w.base.elem, w.dims}
	p := k.pure(to, []value{w.base}, "tt.splat %s : %s -> %s", w.base.name, w.base.shaped, to)
	var at value
	for d := range w.dims {
		if w.dims[d] == 1 || w.stride[d] == 0 {
			continue
		}
		x := k.along(d, w.dims)
		if w.stride[d] != 1 {
			x = k.cheap("arith.muli", x, k.constant(x.shaped, float64(w.stride[d])))
		}
		if x = k.spread(x, w.dims); at.name != "" {
			x = k.cheap("arith.addi", at, x)
		}
		at = x
	}
	if at.name == "" {
		return p
	}
	return k.pure(to, []value{p, at}, "tt.addptr %s, %s : %s, %s", p.name, at.name, to, at.shaped)
}

// mask tells the elements that exist; nil if all do.
func (w *window) mask(k *kernel) *value {
	var all *value
	for d, n := range w.dims {
		limit := w.inside[d]
		if limit.known {
			limit.n = min(limit.n, w.sizes[d])
			if limit.n >= n {
				continue
			}
		} else if w.sizes[d] < n {
			limit = k.scalar("arith.minsi", limit, knownIndex(w.sizes[d]))
		}
		x := k.spread(k.below(d, w.dims, limit), w.dims)
		if all != nil {
			x = k.cheap("arith.andi", *all, x)
		}
		all = &x
	}
	return all
}

// along counts along dimension d of dims, 1 elsewhere.
func (k *kernel) along(d int, dims []int) value {
	v := k.pure(shaped{"i32", dims[d : d+1]}, nil, "tt.make_range {start = 0 : i32, end = %d : i32} : tensor<%dxi32>", dims[d], dims[d])
	for axis := range dims {
		if axis == d {
			continue
		}
		to := shaped{"i32", append([]int(nil), v.dims...)}
		if axis < d {
			to.dims = append([]int{1}, to.dims...)
		} else {
			to.dims = append(to.dims, 1)
		}
		v = k.pure(to, []value{v}, "tt.expand_dims %s {axis = %d : i32} : %s -> %s", v.name, axis, v.shaped, to)
	}
	return v
}

// below is whether the coordinate along d is less than limit.
func (k *kernel) below(d int, dims []int, limit index) value {
	at := k.along(d, dims)
	var bound value
	if limit.known {
		bound = k.constant(at.shaped, float64(limit.n))
	} else {
		bound = k.pure(at.shaped, []value{limit.value}, "tt.splat %s : i32 -> %s", limit.name, at.shaped)
	}
	return k.pure(at.of("i1"), []value{at, bound}, "arith.cmpi slt, %s, %s : %s", at.name, bound.name, at.shaped)
}

// cheap is an operation on tensors of one type that are part of an address or a
// mask.
func (k *kernel) cheap(op string, x, y value) value {
	return k.pure(x.shaped, []value{x, y}, "%s %s, %s : %s", op, x.name, y.name, x.shaped)
}

// spread repeats x along dimensions of 1.
func (k *kernel) spread(x value, dims []int) value {
	to := shaped{x.elem, dims}
	if x.shaped.String() == to.String() {
		return x
	}
	return k.pure(to, []value{x}, "tt.broadcast %s : %s -> %s", x.name, x.shaped, to)
}
