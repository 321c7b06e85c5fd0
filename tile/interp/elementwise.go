package interp

import (
	"fmt"
	"math"

	"matladder/tile"
)

// map1 applies f to each element.
func map1(x block, f func(float64) float64) block {
	b := block{val: make([]float64, len(x.val)), state: x.state}
	for i, v := range x.val {
		b.val[i] = f(v)
	}
	return b
}

// map2 applies f to each pair of elements.
func map2(x, y block, f func(x, y float64) float64) block {
	b := block{val: make([]float64, len(x.val))}
	for i, v := range x.val {
		b.val[i] = f(v, y.val[i])
		b.setState(i, x.at(i)|y.at(i))
	}
	return b
}

// selectBlock takes each element from x where cond holds, else from y.
func selectBlock(cond, x, y block) block {
	b := block{val: make([]float64, len(x.val))}
	for i, c := range cond.val {
		from := y
		if c != 0 {
			from = x
		}
		b.val[i] = from.val[i]
		b.setState(i, cond.at(i)|from.at(i))
	}
	return b
}

// logical is And (decisive 0) or Or (decisive 1): a good operand that is
// decisive makes the result good, whatever the other is.
func logical(x, y block, decisive float64) block {
	b := block{val: make([]float64, len(x.val))}
	for i := range b.val {
		sx, sy := x.at(i), y.at(i)
		byX, byY := x.val[i] == decisive, y.val[i] == decisive
		b.val[i] = 1 - decisive
		if byX || byY {
			b.val[i] = decisive
		}
		if !(byX && sx == 0 || byY && sy == 0) {
			b.setState(i, sx|sy)
		}
	}
	return b
}

// unary returns operation op on elements of d.
func unary(op tile.Op, d tile.Dtype) func(float64) float64 {
	switch op {
	case tile.OpNeg:
		if d.IsInteger() {
			return func(x float64) float64 { return wrap(d, -int64(x)) }
		}
		return func(x float64) float64 { return -x }
	case tile.OpAbs:
		if d.IsInteger() {
			return func(x float64) float64 { return wrap(d, int64(math.Abs(x))) }
		}
		return math.Abs
	case tile.OpNot:
		return func(x float64) float64 { return 1 - x }
	case tile.OpExp:
		return math.Exp
	case tile.OpExp2:
		return math.Exp2
	case tile.OpLog:
		return math.Log
	case tile.OpTanh:
		return math.Tanh
	case tile.OpNormalCDF:
		return func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	case tile.OpLogistic:
		return func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	case tile.OpRsqrt:
		return func(x float64) float64 { return 1 / math.Sqrt(x) }
	case tile.OpRoundEven:
		return math.RoundToEven
	}
	panic(fmt.Sprintf("interp: operation %s has no meaning here", op))
}

// binary returns the operation of e on pairs of elements.
func binary(e *tile.Expr) func(x, y float64) float64 {
	d := e.Dtype
	if d.IsInteger() {
		switch e.Op {
		case tile.OpAdd:
			return func(x, y float64) float64 { return wrap(d, int64(x)+int64(y)) }
		case tile.OpSub:
			return func(x, y float64) float64 { return wrap(d, int64(x)-int64(y)) }
		case tile.OpMul:
			return func(x, y float64) float64 { return wrap(d, int64(x)*int64(y)) }
		}
	}
	switch e.Op {
	case tile.OpAdd:
		return func(x, y float64) float64 { return x + y }
	case tile.OpSub:
		return func(x, y float64) float64 { return x - y }
	case tile.OpMul:
		return func(x, y float64) float64 { return x * y }
	case tile.OpDiv:
		return func(x, y float64) float64 { return x / y }
	case tile.OpMax:
		return larger
	case tile.OpMin:
		return func(x, y float64) float64 { return -larger(-x, -y) }
	case tile.OpCompare:
		return func(x, y float64) float64 {
			if e.Cmp.Holds(x, y) {
				return 1
			}
			return 0
		}
	}
	panic(fmt.Sprintf("interp: operation %s has no meaning here", e.Op))
}

// larger returns the larger of x and y, NaN if either is: math.Max would lose a
// NaN against infinity.
func larger(x, y float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	return math.Max(x, y)
}

// wrap keeps the bits of v that integer type d has.
func wrap(d tile.Dtype, v int64) float64 {
	switch d {
	case tile.Int32:
		return float64(int32(v))
	case tile.Int8:
		return float64(int8(v))
	case tile.Uint8:
		return float64(uint8(v))
	case tile.Int4:
		return float64(int8(v<<4) >> 4)
	}
	panic(fmt.Sprintf("interp: %s does not wrap", d))
}
