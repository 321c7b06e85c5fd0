package interp

import (
	"matladder/tile"
)

// state is what is wrong with one element: 0 if nothing, else a set of bits. The
// low bits say along which dimensions the element is padding, dimensions counted
// from the last one so that they keep their bit under broadcasting.
type state uint16

const (
	poison  state = 1 << 15 // memory never written
	lostPad state = 1 << 14 // padding that no longer has a dimension
	maxDims       = 14      // dimensions that have a bit of their own
	allPad  state = 1<<maxDims - 1 | lostPad
)

// padBit is the bit of dimension dim of a block of rank dimensions.
func padBit(dim, rank int) state {
	if fromLast := rank - 1 - dim; fromLast < maxDims {
		return 1 << fromLast
	}
	return lostPad
}

// lose replaces padding along bit's dimension by padding of no dimension.
func (s state) lose(bit state) state {
	if s&bit == 0 {
		return s
	}
	return s&^bit | lostPad
}

// block is the value of one expression, row-major.
type block struct {
	val   []float64
	state []state // nil: every element is good
}

func newBlock(shape []int) block { return block{val: make([]float64, tile.Elements(shape))} }

// at returns the state of element i.
func (b block) at(i int) state {
	if b.state == nil {
		return 0
	}
	return b.state[i]
}

// setState marks element i; most blocks never need the array.
func (b *block) setState(i int, s state) {
	if b.state == nil {
		if s == 0 {
			return
		}
		b.state = make([]state, len(b.val))
	}
	b.state[i] = s
}

// worst unites the states of all elements.
func (b block) worst() state {
	var s state
	for _, x := range b.state {
		s |= x
	}
	return s
}

// array is a whole array, or scratch, in memory. Every value is one of dtype.
type array struct {
	dtype tile.Dtype
	block
}

// unwritten returns the array or scratch of r, all poison.
func unwritten(r *tile.Ref) *array {
	a := &array{r.Dtype, newBlock(r.Array)}
	a.state = make([]state, len(a.val))
	a.poison()
	return a
}

func (a *array) poison() {
	x := a.dtype.Unknown()
	for i := range a.val {
		a.val[i], a.state[i] = x, poison
	}
}
