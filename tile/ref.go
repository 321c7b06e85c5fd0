package tile

import (
	"slices"

	"matladder/internal/each"
)

// RefKind says where a ref's array lives and who may write it.
type RefKind uint8

// The kinds of ref.
const (
	Table   RefKind = iota // int32 scalars known before the grid starts
	In                     // read-only array, seen block by block
	Out                    // written array, seen block by block
	Scratch                // memory of one worker that lives over all its programs
)

func (k RefKind) String() string { return [...]string{"table", "in", "out", "scratch"}[k] }

// Squeezed, as a dimension of Block, takes one element of the array along that
// dimension and hides the dimension from the body (batch, head).
const Squeezed = -1

// ArrayShape is the shape of a whole array.
type ArrayShape []int

// Array returns the shape of a whole array.
func Array(dims ...int) ArrayShape { return dims }

// BlockSpec is a block shape with its index map: for each dimension of the
// array, the number of the block, counted in blocks, that a program sees.
type BlockSpec struct {
	Shape []int
	Index []IndexExpr
	Steps []int // of Every: elements from one block's beginning to the next; nil for blocks side by side

	main    bool
	buffers int
}

// Block starts a block spec; complete it with At.
func Block(dims ...int) BlockSpec { return BlockSpec{Shape: dims} }

// At gives the block spec its index map.
func (b BlockSpec) At(index ...IndexExpr) BlockSpec {
	b.Index = index
	return b
}

// Every says how many elements lie between the beginnings of neighbouring blocks, along each
// dimension of the array. With fewer than the block's size blocks overlap, and with 1 the
// index map counts elements. An element of an output that several blocks share may be stored
// through one of them only.
func (b BlockSpec) Every(steps ...int) BlockSpec {
	b.Steps = steps
	return b
}

// Ref is what the body sees of an array: one block of it, or scratch. Its
// fields are read-only once the program is built.
type Ref struct {
	Name    string
	Kind    RefKind
	Dtype   Dtype
	Array   []int       // shape of the whole; for Table and Scratch, of the ref itself
	Block   []int       // block shape, as given: Squeezed dimensions included
	Index   []IndexExpr // index map, in blocks; nil for Table and Scratch
	Steps   []int       // elements from one block's beginning to the next (Every); nil for blocks side by side
	Buffers int         // blocks of an input in fast memory at once; 0 leaves it to the machine
	Main    bool        // stays in main memory, whole: for copies alone
	Pos     Pos
}

// Shape returns the shape the body sees: the block without its squeezed dimensions.
func (r *Ref) Shape() []int { return unsqueezed(r.Block) }

func unsqueezed(block []int) []int {
	s := make([]int, 0, len(block))
	for _, d := range block {
		if d != Squeezed {
			s = append(s, d)
		}
	}
	return s
}

// ArrayDim returns the dimension of the array that dimension dim of Shape is.
func (r *Ref) ArrayDim(dim int) int {
	for i, d := range r.Block {
		if d == Squeezed {
			continue
		}
		if dim == 0 {
			return i
		}
		dim--
	}
	return -1
}

// BlockSize returns the block's extent along dimension i of the array: 1 where it is squeezed.
func (r *Ref) BlockSize(i int) int {
	if r.Block[i] == Squeezed {
		return 1
	}
	return r.Block[i]
}

// BlockSizes are those of all dimensions.
func (r *Ref) BlockSizes() []int {
	return each.Upto(len(r.Block), r.BlockSize)
}

// Step returns how many elements further the next block begins along dimension i of the
// array: the block's extent, unless blocks overlap.
func (r *Ref) Step(i int) int {
	if r.Steps != nil {
		return r.Steps[i]
	}
	return r.BlockSize(i)
}

// Overlap reports whether blocks may share elements.
func (r *Ref) Overlap() bool { return r.Steps != nil && !slices.Equal(r.Steps, r.BlockSizes()) }

// Blocks returns how many blocks begin inside the array along each dimension.
func (r *Ref) Blocks() []int {
	return each.Upto(len(r.Array), func(i int) int { return Ceil(r.Array[i], r.Step(i)) })
}

// Partial reports whether the last block along dimension dim of Shape reaches past the array.
func (r *Ref) Partial(dim int) bool {
	if r.Kind != In && r.Kind != Out {
		return false
	}
	i := r.ArrayDim(dim)
	return r.lastInside(i) < r.BlockSize(i)
}

// Inside returns how many elements of block number index along dimension i of
// the array lie inside the array.
func (r *Ref) Inside(i, index int) int {
	return max(0, min(r.BlockSize(i), r.Array[i]-index*r.Step(i)))
}

// lastInside is Inside of the last block.
func (r *Ref) lastInside(i int) int { return r.Inside(i, Ceil(r.Array[i], r.Step(i))-1) }

// BlockBytes returns the bytes of one block.
func (r *Ref) BlockBytes() int64 { return r.Dtype.Bytes(Elements(r.Shape())) }

// ArrayBytes returns the bytes of the whole array.
func (r *Ref) ArrayBytes() int64 { return r.Dtype.Bytes(Elements(r.Array)) }

func (r *Ref) value() *Expr {
	return newExpr(&Expr{Op: OpLoad, Ref: r, Dtype: r.Dtype, Shape: r.Shape()})
}

// Window follows which block of its array an input or output shows, from one
// program to the next. A device moves a block between main and fast memory where
// the window moves, and nothing while it stays.
type Window struct {
	Ref   *Ref
	Index []int // the block along each dimension, after the first Move

	shown bool
}

// NewWindow returns a window that has shown nothing yet.
func NewWindow(r *Ref) *Window { return &Window{Ref: r, Index: make([]int, len(r.Index))} }

// Move goes on to the program of env and reports whether the block is another
// one than before. The first block always is.
func (w *Window) Move(env Env) bool {
	moved := !w.shown
	for d, x := range w.Ref.Index {
		at := Eval(x, env)
		moved = moved || at != w.Index[d]
		w.Index[d] = at
	}
	w.shown = true
	return moved
}

// Bytes returns the bytes of the block that are inside the array.
func (w *Window) Bytes() int64 {
	n := int64(1)
	for d, at := range w.Index {
		n *= int64(w.Ref.Inside(d, at))
	}
	return w.Ref.Dtype.Bytes(n)
}
