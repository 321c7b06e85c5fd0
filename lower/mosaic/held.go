package mosaic

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// held is the block of a scratch as a value: what one statement stores and the next one reads
// goes through no memory. The compiler does not see by itself that what is computed from both
// is the same, so that attention had the factor by which its sums shrink computed twice, nor
// does it spare the stores.
type held struct {
	value
	unsaved bool // memory does not have it yet
}

// holds reports whether r's block may be a value between statements: no copy brings or takes
// what is in it, and it is no sum, which would be a value from the first product of a step to
// the last. With sums as values too attention gains up to 2 % on v4 and loses up to 4 % on v5e
// and v6e (tools/pallasref).
func (k *kernel) holds(r *tile.Ref) bool {
	return r.Kind == tile.Scratch && !r.Main && !k.program.CopiesItself() && !k.sums[r]
}

// sumsOf are the refs that statements of p add to.
func sumsOf(p *tile.Program) map[*tile.Ref]bool {
	sums := map[*tile.Ref]bool{}
	p.Walk(func(s *tile.Stmt) {
		if s.Kind == tile.Accumulate || s.Kind == tile.Store && s.Value.Op == tile.OpAdd && tile.Loads(s.Value, s.Ref) {
			sums[s.Ref] = true
		}
	})
	return sums
}

// save writes what is held of r to memory, unless nothing reads it there.
func (k *kernel) save(r *tile.Ref) {
	h, ok := k.held[r]
	if !ok || !h.unsaved {
		return
	}
	k.held[r] = held{value: h.value}
	if !k.unread[r] {
		k.put(r, h.value)
	}
}

// release saves and forgets all that is held: what follows is written in other regions.
func (k *kernel) release() {
	for _, r := range k.program.Refs {
		k.save(r)
	}
	clear(k.held)
}

// A column has one number for each row of a block, as the largest score and the sum of a row
// of attention. A vector register is 8 rows of 128 lanes, so that a column fills one lane of
// 128 in each, and to combine it with the row's elements costs a broadcast along lanes every
// time. Scratch of that shape therefore keeps its number in every lane, which takes no more
// memory. For blocks of 1024×1024 scores on v6e that spares attention a fifth of its cycles.

// tallEnough is how many rows fill a register.
const tallEnough = 8

// inLanes reports whether r is scratch that keeps a column in every lane.
func (k *kernel) inLanes(r *tile.Ref) bool {
	shape := r.Block
	return r.Kind == tile.Scratch && !r.Main && r.Dtype == tile.Float32 && !k.program.CopiesItself() &&
		len(shape) == 2 && shape[0]%tallEnough == 0 && shape[1] == 1
}

// block is the type of the value of r's block.
func (k *kernel) block(r *tile.Ref) shaped {
	arg := k.refs[r]
	if k.inLanes(r) {
		return shaped{Elem: arg.Elem, Dims: []int{arg.Dims[0], tileColumns}, Lanes: tileColumns}
	}
	return shaped{Elem: arg.Elem, Dims: mlir.Physical(r.Shape())}
}

// alone is v with each number in one lane, if it is a column in every lane.
func (k *kernel) alone(v value) value {
	if v.Lanes == 0 {
		return v
	}
	return k.fromLanes(v, []int{v.Dims[0], 1})
}

// fromLanes is column v repeated to dims.
func (k *kernel) fromLanes(v value, dims []int) value {
	to := shaped{Elem: v.Elem, Dims: dims}
	n := dims[len(dims)-1]
	switch {
	case len(dims) != 2 || n > tileColumns && n%tileColumns != 0:
		return k.Vector(k.fromLanes(v, []int{v.Dims[0], 1}), to)
	case n == tileColumns:
		v.Lanes = 0
		return v
	case v.Elem == "i1":
		return k.ToBool(k.fromLanes(k.Op(v.Of("i32"), "arith.extui", "", v), dims))
	case n < tileColumns:
		return k.Once(to, "vector.extract_strided_slice", "offsets = [0, 0], sizes = ["+mlir.Commas(dims...)+"], strides = [1, 1]", v)
	}
	return k.Once(to, "tpu.concatenate", "dimension = 1 : i32", slices.Repeat([]value{v}, n/tileColumns)...)
}
