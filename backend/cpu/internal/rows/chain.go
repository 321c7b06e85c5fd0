package rows

import (
	"math"
	"slices"
	"unsafe"

	"matladder/internal/bfloat16"
)

// A Chain is operations on the elements of rows: some elements at a time go through all of them, one
// after another, in registers. It has these in hand, and may keep those of one value. There is a list
// for each thing to know of an operation; Turn or TurnSum ends it.
type Chain struct {
	Do       [Links]Do
	At       [Links]unsafe.Pointer // operands, of the first row; nil for none
	Step     [Links]int            // bytes from row to row of those
	_        [Links]uintptr        // operands of the row in hand
	routines [3][Links]uintptr     // in assembly
}

// Links is the most operations of a chain.
const Links = 24

// Do says what is done: an operation of those to DivInto, plus what its operand is.
type Do int

const (
	Load    Do = 6 * iota // those in hand are the operand
	Add                   // plus it
	Sub                   // less it
	SubFrom               // it less them
	Mul                   // times it
	Div                   // divided by it
	DivInto               // it divided by them
)

const (
	Keep              = DivInto + 6 + iota // those in hand are kept
	Shuffle                                // of each 8 in hand those at the places of Order, with their signs changed
	Round                                  // to bfloat16
	Ask                                    // memory is asked for a byte of the operand for each element
	AskTwo                                 // for two
	AskFour                                // for four
	Sum                                    // they are added to the sum of the row
	StoreFloat32                           // to the operand
	StoreFloat32Past                       // so past the caches, where it is of whole lines of them
	StoreBFloat16                          // rounded; nothing is in hand then
	StoreBFloat16Past                      // so
	Turn                                   // ends a chain
	TurnSum                                // ends a chain, and stores the sum of the row
)

// What an operand is.
const (
	Float32s  Do = iota // elements
	BFloat16s           // elements, as bits
	Int32s              // elements, rounded to float32
	Number              // one for all of the row
	Kept                // what Keep has kept
	Itself              // the elements in hand
)

// Order is the operand of Shuffle: 16 places of which the last 8 are those of the first plus 8, and
// the bits that are changed of each.
type Order struct{ At, Bits [16]uint32 }

// KeptMost is how many elements Keep needs memory for.
const KeptMost = 128

// chain does what a chain says of n elements of each of some rows. A sum is that of Sum in package
// vexp: element i goes to the sum number i mod 32, and those are added in halves.
func chain(c *Chain, rows, n int) {
	for row := range rows {
		var sums [32]float32
		c.row(row, 0, n, &sums)
	}
}

// joined is rows of which all operands follow each other in memory as one row.
func (c *Chain) joined(rows, n int) (int, int) {
	for i, do := range c.Do {
		bytes := 0
		switch {
		case do == Turn:
			return 1, rows * n
		case do < Keep:
			bytes = [...]int{4, 2, 4, 0, 0, 0}[do%Add]
		case do == Shuffle && n%8 != 0, do >= Ask && do <= Sum, do > Turn:
			return rows, n
		case do >= StoreFloat32:
			bytes = [...]int{4, 4, 2, 2}[do-StoreFloat32]
		}
		if c.Step[i] != n*bytes {
			return rows, n
		}
	}
	panic("rows: a chain without an end")
}

// row does elements from … n-1 of a row, from being a multiple of 32.
func (c *Chain) row(row, from, n int, sums *[32]float32) {
	last := c.last()
	for ; from < n; from += len(sums) {
		var buffer [32]float32
		x := buffer[:min(len(buffer), n-from)]
		for i := range last {
			c.link(i, row, from, x, sums)
		}
	}
	if c.Do[last] == TurnSum {
		for n := len(sums) / 2; n > 0; n /= 2 {
			for i := range n {
				sums[i] += sums[i+n]
			}
		}
		elementsAt[float32](c, last, row, 0, 1)[0] = sums[0]
	}
}

// last is the number of the last operation.
func (c *Chain) last() int {
	return slices.IndexFunc(c.Do[:], func(do Do) bool { return do >= Turn })
}

func elementsAt[T any](c *Chain, i, row, from, n int) []T {
	return unsafe.Slice((*T)(unsafe.Add(c.At[i], row*c.Step[i])), from+n)[from:]
}

// link is one operation on the elements in hand.
func (c *Chain) link(i, row, from int, x []float32, sums *[32]float32) {
	do := c.Do[i]
	switch do {
	case Keep:
		copy(elementsAt[float32](c, i, 0, 0, len(x)), x)
		return
	case Shuffle:
		order, before := (*Order)(c.At[i]), [32]float32{}
		copy(before[:], x)
		for j := range x {
			x[j] = math.Float32frombits(math.Float32bits(before[j&^7+int(order.At[j%8])]) ^ order.Bits[j%8])
		}
		return
	case Round:
		for j, v := range x {
			x[j] = bfloat16.Widen(bfloat16.Round(v))
		}
		return
	case Ask, AskTwo, AskFour:
		return
	case Sum:
		for j, v := range x {
			sums[j] += v
		}
		return
	case StoreFloat32, StoreFloat32Past:
		copy(elementsAt[float32](c, i, row, from, len(x)), x)
		return
	case StoreBFloat16, StoreBFloat16Past:
		toBFloat16(elementsAt[uint16](c, i, row, from, len(x)), x)
		return
	}
	var operand [32]float32
	y := operand[:len(x)]
	switch do % Add {
	case Float32s:
		y = elementsAt[float32](c, i, row, from, len(x))
	case BFloat16s:
		fromBFloat16(y, elementsAt[uint16](c, i, row, from, len(x)))
	case Int32s:
		for j, v := range elementsAt[int32](c, i, row, from, len(x)) {
			y[j] = float32(v)
		}
	case Number:
		for j := range y {
			y[j] = elementsAt[float32](c, i, row, 0, 1)[0]
		}
	case Kept:
		y = elementsAt[float32](c, i, 0, 0, len(x))
	case Itself:
		y = x
	}
	switch do / Add * Add {
	case Load:
		copy(x, y)
	case Add:
		add(x, x, y)
	case Sub:
		sub(x, x, y)
	case SubFrom:
		sub(x, y, x)
	case Mul:
		mul(x, x, y)
	case Div:
		Divide(x, x, y)
	case DivInto:
		Divide(x, y, x)
	}
}
