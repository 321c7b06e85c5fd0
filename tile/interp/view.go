package interp

import "matladder/tile"

// view is what the body sees of one ref: a block of its array.
type view struct {
	ref     *tile.Ref
	array   *array
	rank    int   // of the array
	extent  []int // of the block along each dimension of the array
	strides []int // of the array
	bits    []state
	index   []int // the block that the current program sees
	fetched bool  // index holds the block of an earlier step
	loaded  *block
	visits  map[int][]int // Out: Parallel coordinates of the first program that saw a block
	stored  []int64       // Out, of blocks that overlap: by which block each element was, by how many came before
	blocks  int64         // brought in or written back so far
	bytes   int64         // of them, inside the array
}

func newView(r *tile.Ref, a *array) *view {
	v := &view{ref: r, array: a, rank: len(r.Array), visits: map[int][]int{}}
	v.index = make([]int, v.rank)
	v.extent, v.strides, v.bits = make([]int, v.rank), make([]int, v.rank), make([]state, v.rank)
	stride, dim := 1, len(r.Shape())
	for d := v.rank - 1; d >= 0; d-- {
		v.extent[d], v.strides[d] = r.BlockSize(d), stride
		stride *= r.Array[d]
		if r.Block[d] != tile.Squeezed {
			dim--
			v.bits[d] = padBit(dim, len(r.Shape()))
		}
	}
	if r.Kind == tile.Out && r.Overlap() {
		v.stored = make([]int64, len(a.val))
	}
	return v
}

// inside returns how many elements of the block along dimension d of the array are inside it.
func (v *view) inside(d int) int { return v.ref.Inside(d, v.index[d]) }

// run is a row of the block along the last dimension of the array.
type run struct {
	block, array int   // position of its first element in each
	size         int   // elements in the block
	inside       int   // how many of them are inside the array along this dimension
	outside      state // padding along the outer dimensions, for all of them
	last         state // padding along this dimension, for those not inside
}

// pad returns the padding bits of element i of the run; 0 if it is inside the array.
func (r run) pad(i int) state {
	if i < r.inside {
		return r.outside
	}
	return r.outside | r.last
}

// runs calls f for each run of the block, in row-major order.
func (v *view) runs(f func(run)) {
	if v.rank == 0 {
		f(run{size: 1, inside: 1})
		return
	}
	v.runsFrom(0, run{}, f)
}

func (v *view) runsFrom(d int, r run, f func(run)) {
	start, inside := v.index[d]*v.ref.Step(d), v.inside(d)
	if d == v.rank-1 {
		r.block, r.array = r.block*v.extent[d], r.array+start
		r.size, r.inside, r.last = v.extent[d], inside, v.bits[d]
		f(r)
		return
	}
	for c := range v.extent[d] {
		inner := run{block: r.block*v.extent[d] + c, array: r.array + (start+c)*v.strides[d], outside: r.outside}
		if c >= inside {
			inner.outside |= v.bits[d]
		}
		v.runsFrom(d+1, inner, f)
	}
}

// load returns the current block; nobody may change it.
func (v *view) load() block {
	switch v.ref.Kind {
	case tile.Scratch, tile.Table:
		b := v.array.block
		if b.worst() == 0 {
			b.state = nil
		}
		return b
	case tile.In:
		if v.loaded == nil {
			v.loaded = new(v.read())
		}
		return *v.loaded
	}
	return v.read()
}

func (v *view) read() block {
	b := newBlock(v.extent)
	v.runs(func(r run) {
		for i := range r.size {
			if pad := r.pad(i); pad != 0 {
				b.val[r.block+i] = v.ref.Dtype.Unknown()
				b.setState(r.block+i, pad)
				continue
			}
			b.val[r.block+i] = v.array.val[r.array+i]
			b.setState(r.block+i, v.array.at(r.array+i))
		}
	})
	return b
}
