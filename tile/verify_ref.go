package tile

import (
	"math"
	"slices"
)

// refNames: arrays are matched by name, so names are unique.
func refNames(v *verifier) {
	for i, r := range v.program.Refs {
		if r == nil {
			v.errorf(Pos{}, "ref %d is nil", i)
			continue
		}
		if r.Name == "" {
			v.errorf(r.Pos, "a ref needs a name")
		}
		for _, s := range v.program.Refs[:i] {
			if s != nil && s.Name == r.Name {
				v.errorf(r.Pos, "%s: there is a ref of this name already", r.Name)
			}
		}
	}
}

// refDims: arrays and blocks have positive sizes and one rank. A block may be
// larger than its array: it overhangs.
func refDims(v *verifier) {
	for _, r := range v.program.Refs {
		if r == nil {
			continue
		}
		for d, n := range r.Array {
			if n < 1 {
				v.errorf(r.Pos, "%s: dimension %d has size %d: every size must be at least 1", describe(r), d, n)
			}
		}
		if len(r.Block) != len(r.Array) {
			v.errorf(r.Pos, "%s: the block has %d dimensions, the array %d", describe(r), len(r.Block), len(r.Array))
			continue
		}
		switch r.Kind {
		case In, Out:
			for d, n := range r.Block {
				if n < 1 && n != Squeezed {
					v.errorf(r.Pos, "%s: block dimension %d has size %d: every size must be at least 1", describe(r), d, n)
				}
			}
			if len(r.Index) != len(r.Array) {
				v.errorf(r.Pos, "%s: the index map has %d results, the array %d dimensions", describe(r), len(r.Index), len(r.Array))
			}
		case Scratch, Table:
			if !slices.Equal(r.Block, r.Array) || len(r.Index) > 0 {
				v.errorf(r.Pos, "%s: a %s ref is whole and has no index map", r.Name, r.Kind)
			}
			if r.Kind == Table && len(r.Array) != 1 {
				v.errorf(r.Pos, "%s: a table has one dimension", describe(r))
			}
		default:
			v.errorf(r.Pos, "%s: no such kind of ref", r.Name)
		}
	}
}

// refDtypes: what is in memory has a size.
func refDtypes(v *verifier) {
	for _, r := range v.program.Refs {
		switch {
		case r == nil:
		case r.Dtype == InvalidDtype || r.Dtype == Bool || int(r.Dtype) >= len(dtypes):
			v.errorf(r.Pos, "%s: no array is of dtype %s", r.Name, r.Dtype)
		case r.Kind == Table && r.Dtype != Int32:
			v.errorf(r.Pos, "%s: a table is of int32, not %s", r.Name, r.Dtype)
		}
	}
}

// memorySize: the bits of all arrays, and of all blocks, can be counted.
func memorySize(v *verifier) {
	var arrays, blocks int64
	for _, r := range v.program.Refs {
		if r == nil || len(r.Block) != len(r.Array) || int(r.Dtype) >= len(dtypes) {
			return
		}
		array, block := int64(r.Dtype.Bits()), int64(r.Dtype.Bits())
		for d := range r.Array {
			if array = mulSize(array, r.Array[d]); r.Block[d] != Squeezed {
				block = mulSize(block, r.Block[d])
			}
		}
		if arrays, blocks = addSize(arrays, array), addSize(blocks, block); arrays == math.MaxInt64 || blocks == math.MaxInt64 {
			v.errorf(r.Pos, "%s: the sizes of all arrays together overflow 64 bits", describe(r))
			return
		}
	}
}

// mulSize and addSize saturate; what is not positive another rule refuses.
func mulSize(a int64, n int) int64 {
	if n < 1 {
		return a
	}
	if a > math.MaxInt64/int64(n) {
		return math.MaxInt64
	}
	return a * int64(n)
}

func addSize(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// gridAxes: axes have a size and a name of their own.
func gridAxes(v *verifier) {
	for i, a := range v.program.Grid {
		if a == nil {
			v.errorf(Pos{}, "grid: axis %d is nil", i)
			continue
		}
		v.axis(a, v.program.Grid[:i])
	}
}

func (v *verifier) axis(a *Axis, before []*Axis) {
	if a.Name == "" {
		v.errorf(a.pos, "an axis needs a name")
	}
	if a.Size < 1 {
		v.errorf(a.pos, "axis %s: size %d: an axis needs at least one program", a.Name, a.Size)
	}
	for _, b := range before {
		if b != nil && a.Name == b.Name {
			v.errorf(a.pos, "axis %s: there is an axis of this name already", a.Name)
		}
	}
}

// gridSize: the number of programs can be counted.
func gridSize(v *verifier) {
	steps := int64(1)
	for _, a := range v.program.Grid {
		if a == nil || a.Size < 1 {
			return
		}
		if steps > math.MaxInt64/int64(a.Size) {
			v.errorf(a.pos, "axis %s: size %d: the grid has more programs than 64 bits can count", a.Name, a.Size)
			return
		}
		steps *= int64(a.Size)
	}
}

// overlaps verifies blocks that begin every so many elements (BlockSpec.Every): they leave no
// element out, and where blocks of an output overlap a table says which stores what. Such an
// output is not read, since what another program stored may not be written back yet.
func overlaps(v *verifier) {
	for _, r := range v.program.Refs {
		switch {
		case r == nil || r.Steps == nil || len(r.Block) != len(r.Array): // the latter is said by refDims
			continue
		case r.Kind != In && r.Kind != Out || r.Main:
			v.errorf(r.Pos, "%s: only blocks of inputs and outputs are chosen by an index map, every so many elements", r.Name)
			continue
		case len(r.Steps) != len(r.Array):
			v.errorf(r.Pos, "%s: every (%s): the array has %d dimensions", describe(r), shapeString(r.Steps), len(r.Array))
			continue
		}
		for d, n := range r.Steps {
			if n < 1 || n > r.BlockSize(d) {
				v.errorf(r.Pos, "%s: every %d along dimension %d: want 1 … %d, so that blocks leave nothing out", describe(r), n, d, r.BlockSize(d))
			}
		}
		switch {
		case !r.Overlap():
		case r.Buffers > 0:
			v.errorf(r.Pos, "%s: buffers are for blocks side by side", describe(r))
		case r.Kind == Out && TableFree(r.Index...):
			v.errorf(r.Pos, "%s: blocks of an output that overlap are for a table to place, which knows what each stores", describe(r))
		}
	}
}

// overlapRead says why r, an output whose blocks overlap, may not be read.
func overlapRead(r *Ref) string {
	return describe(r) + ": blocks of an output that overlap can be stored to and not read: what others stored may be on its way"
}
