package rows

import (
	"math"
	"unsafe"

	"matladder/internal/bfloat16"
)

// A chain is operations on the elements of rows, one after another: some elements at a time go
// through all of them in registers. It has elements in hand, and may keep those of one value.

// Op is one of a chain.
type Op struct {
	Do   Do
	At   unsafe.Pointer // its operand, of the first row; nil for none
	Step int            // bytes from row to row of that
	_    [2]uintptr     // routines in assembly
}

// Do says what is done: an operation of those to DivInto, plus what its operand is.
type Do int

const (
	Load    Do = 5 * iota // those in hand are the operand
	Add                   // plus it
	Sub                   // less it
	SubFrom               // it less them
	Mul                   // times it
	Div                   // divided by it
	DivInto               // it divided by them
)

const (
	Keep              = DivInto + 5 + iota // those in hand are kept
	Shuffle                                // of each 8 in hand those at the places of Order, with their signs changed
	Round                                  // to bfloat16
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
	Number              // one for all of the row
	Kept                // what Keep has kept
	Itself              // the elements in hand
)

// Order is the operand of Shuffle: 16 places of which the last 8 are those of the first plus 8, and
// the bits that are changed of each.
type Order struct{ At, Bits [16]uint32 }

// KeptMost is how many elements Keep needs memory for.
const KeptMost = 128

// ChainMost is the most operations of a chain.
const ChainMost = 16

// chain does what a chain says of n elements of each of some rows. A sum is that of Sum in package
// vexp: element i goes to the sum number i mod 32, and those are added in halves.
func chain(ops []Op, rows, n int) {
	for row := range rows {
		var sums [32]float32
		chainRow(ops, row, 0, n, &sums)
	}
}

// chainRow does elements from … n-1 of a row, from being a multiple of 32.
func chainRow(ops []Op, row, from, n int, sums *[32]float32) {
	for ; from < n; from += len(sums) {
		var buffer [32]float32
		x := buffer[:min(len(buffer), n-from)]
		for i := range ops {
			ops[i].chained(row, from, x, sums)
		}
	}
	if last := &ops[len(ops)-1]; last.Do == TurnSum {
		for n := len(sums) / 2; n > 0; n /= 2 {
			for i := range n {
				sums[i] += sums[i+n]
			}
		}
		elementsAt[float32](last, row, 0, 1)[0] = sums[0]
	}
}

func elementsAt[T any](op *Op, row, from, n int) []T {
	return unsafe.Slice((*T)(unsafe.Add(op.At, row*op.Step)), from+n)[from:]
}

// chained is one operation on the elements in hand.
func (op *Op) chained(row, from int, x []float32, sums *[32]float32) {
	switch op.Do {
	case Keep:
		copy(elementsAt[float32](op, 0, 0, len(x)), x)
		return
	case Shuffle:
		order, before := (*Order)(op.At), [32]float32{}
		copy(before[:], x)
		for i := range x {
			x[i] = math.Float32frombits(math.Float32bits(before[i&^7+int(order.At[i%8])]) ^ order.Bits[i%8])
		}
		return
	case Round:
		for i, v := range x {
			x[i] = bfloat16.Widen(bfloat16.Round(v))
		}
		return
	case Sum:
		for i, v := range x {
			sums[i] += v
		}
		return
	case StoreFloat32, StoreFloat32Past:
		copy(elementsAt[float32](op, row, from, len(x)), x)
		return
	case StoreBFloat16, StoreBFloat16Past:
		toBFloat16(elementsAt[uint16](op, row, from, len(x)), x)
		return
	case Turn, TurnSum:
		return
	}
	var operand [32]float32
	y := operand[:len(x)]
	switch op.Do % Add {
	case Float32s:
		y = elementsAt[float32](op, row, from, len(x))
	case BFloat16s:
		fromBFloat16(y, elementsAt[uint16](op, row, from, len(x)))
	case Number:
		for i := range y {
			y[i] = elementsAt[float32](op, row, 0, 1)[0]
		}
	case Kept:
		y = elementsAt[float32](op, 0, 0, len(x))
	case Itself:
		y = x
	}
	switch op.Do / Add * Add {
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
