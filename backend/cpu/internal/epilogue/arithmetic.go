package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/rows"
	"matladder/internal/bfloat16"
	"matladder/tile"
)

// Elementwise operations on row vectors, but for those of package rows;
// transcendental functions are computed in float64 and rounded once, those of
// activations from tables.
var (
	unaryFloats = map[tile.Op]func(o, x []float32){
		tile.OpAbs:       inFloat64(math.Abs),
		tile.OpExp:       inFloat64(math.Exp), // of bfloat16, as the next: see values.exponential
		tile.OpExp2:      inFloat64(math.Exp2),
		tile.OpLog:       inFloat64(math.Log),
		tile.OpTanh:      inFloat64(math.Tanh),
		tile.OpRsqrt:     inFloat64(func(x float64) float64 { return 1 / math.Sqrt(x) }),
		tile.OpRoundEven: inFloat64(math.RoundToEven),
	}
	unaryInts = map[tile.Op]func(o, x []int32){
		tile.OpNeg: each(func(x int32) int32 { return -x }),
		tile.OpAbs: each(func(x int32) int32 { return max(x, -x) }),
	}
)

// binaryFloats returns the loop of an operation on two rows; nil for another.
func binaryFloats(op tile.Op, l *rows.Loops) func(o, x, y []float32) {
	switch op {
	case tile.OpAdd:
		return l.Add
	case tile.OpSub:
		return l.Sub
	case tile.OpMul:
		return l.Mul
	case tile.OpMax:
		return l.Max
	case tile.OpMin:
		return l.Min
	case tile.OpDiv:
		return func(o, x, y []float32) {
			for i := range o {
				o[i] = x[i] / y[i]
			}
		}
	}
	return nil
}

// binaryInts is binaryFloats of integers.
func binaryInts(op tile.Op, l *rows.Loops) func(o, x, y []int32) {
	switch op {
	case tile.OpAdd:
		return l.AddInt32
	case tile.OpSub:
		return l.SubInt32
	case tile.OpMul:
		return l.MulInt32
	case tile.OpMax:
		return pairs(func(x, y int32) int32 { return max(x, y) })
	case tile.OpMin:
		return pairs(func(x, y int32) int32 { return min(x, y) })
	}
	return nil
}

type number interface{ float32 | int32 }

// each is the loop of a function of one element, pairs that of two.
func each[T, U any](f func(x T) U) func(o []U, x []T) {
	return func(o []U, x []T) {
		for i := range o {
			o[i] = f(x[i])
		}
	}
}

func pairs[T, U any](f func(x, y T) U) func(o []U, x, y []T) {
	return func(o []U, x, y []T) {
		for i := range o {
			o[i] = f(x[i], y[i])
		}
	}
}

func inFloat64(f func(float64) float64) func(o, x []float32) {
	return func(o, x []float32) {
		for i := range o {
			o[i] = float32(f(float64(x[i])))
		}
	}
}

func compare[T number](c tile.Comparison) func(o []bool, x, y []T) {
	return func(o []bool, x, y []T) {
		for i := range o {
			o[i] = c.Holds(float64(x[i]), float64(y[i]))
		}
	}
}

// integerToBFloat16 rounds once, where int32 → float32 → bfloat16 would twice:
// the float32 in between keeps in its last bit whether anything was lost.
func integerToBFloat16(v int32) float32 {
	exact := float64(v)
	f := float32(exact)
	if lost := exact - float64(f); lost != 0 {
		bits := math.Float32bits(f)
		if (lost < 0) == (v > 0) { // rounded away from zero
			bits--
		}
		f = math.Float32frombits(bits | 1)
	}
	return bfloat16.Widen(bfloat16.Round(f))
}

// saturate rounds to the nearest integer, ties to even, within lo … hi; NaN is 0.
func saturate(x float32, lo, hi float64) int32 {
	if x != x {
		return 0
	}
	return int32(max(lo, min(hi, math.RoundToEven(float64(x)))))
}
