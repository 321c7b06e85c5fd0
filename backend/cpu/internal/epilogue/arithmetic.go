package epilogue

import (
	"math"
	"sync"

	"matladder/backend/cpu/internal/rows"
	"matladder/internal/bfloat16"
	"matladder/tile"
)

// Elementwise operations on row vectors, but for those of package rows; transcendental functions
// are computed in float64 and rounded once, those of activations from tables.
var (
	unaryFloats = map[tile.Op]func(o, x []float32){
		tile.OpAbs:  inFloat64(math.Abs),
		tile.OpExp:  inFloat64(math.Exp), // of bfloat16, as the next: see values.exponential
		tile.OpExp2: inFloat64(math.Exp2),
		tile.OpLog:  inFloat64(math.Log),
		tile.OpTanh: inFloat64(math.Tanh),
		tile.OpRsqrt: func(o, x []float32) { // without a call, so that roots do not wait for each other
			for i, v := range x[:len(o)] {
				o[i] = float32(1 / math.Sqrt(float64(v)))
			}
		},
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
		return rows.Divide
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

// cubicsOf is a function as cubics that meet its values and slopes at equal steps, n of them
// from lo to hi: what an activation of a whole output needs, at a fraction of the time of
// package math. Beyond them the function is constant.
func cubicsOf(f, slope func(float64) float64, lo, hi float64, n int) *rows.Cubics {
	perStep := float64(n) / (hi - lo)
	p := &rows.Cubics{Table: make([][4]float64, n), Lo: lo, PerStep: perStep, Last: hi - 0x1p-20/perStep} // rounding keeps it below hi
	for i := range p.Table {
		a, b := lo+float64(i)/perStep, lo+float64(i+1)/perStep
		fa, fb, da, db := f(a), f(b), slope(a)/perStep, slope(b)/perStep
		p.Table[i] = [4]float64{fa, da, 3*(fb-fa) - 2*da - db, 2*(fa-fb) + da + db}
	}
	return p
}

// The tables are made when first needed: 81 and 68 KiB, of which each range of x meets its own
// part. Both go down to where a function is 0 to float32. Cubics are off by at most 2^-24 of the
// value, and by 2^-21 of Φ far out, where it bends most.
var (
	normalCDF = sync.OnceValue(func() *rows.Cubics {
		const lo, hi = -14.5, 5.75
		f := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		return cubicsOf(f, func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }, lo, hi, (hi-lo)*128)
	})
	logistic = sync.OnceValue(func() *rows.Cubics {
		const lo, hi = -104, 32
		f := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
		return cubicsOf(f, func(x float64) float64 { y := f(x); return y * (1 - y) }, lo, hi, (hi-lo)*16)
	})
)
