// Package rows has the elementwise loops of epilogues over contiguous elements: conversions and
// arithmetic that would cost as much as a product if they ran one element at a time.
//
//  1. Generic is the loops in Go, which say what each computes.
//  2. For is the same with assembly where the machine has it; the last
//     few elements of a row go to the Go loop.
//
// Slices of one call have the same length, but for those of rows; dst may be one of the
// sources. Every result is that of the Go loop, to the bit.
package rows

import (
	"math"

	"matladder/internal/bfloat16"
)

// Matrix is rows that are LD elements apart, or one row for all if that is 0.
type Matrix[T any] struct {
	Of []T
	LD int
}

// Loops are the loops for one instruction set.
type Loops struct {
	Add    func(dst, x, y []float32)              // dst = x + y
	Sub    func(dst, x, y []float32)              // dst = x - y
	Mul    func(dst, x, y []float32)              // dst = x · y
	Select func(dst, x, y []float32, cond []bool) // dst = x where cond holds, or else y
	Max    func(dst, x, y []float32)              // the larger; +0 is larger than -0, and NaN than all
	Min    func(dst, x, y []float32)              // the smaller; -0 is smaller than +0, and NaN than all

	// Chain does what a chain says of n elements of each of some rows.
	Chain func(c *Chain, rows, n int)

	AddInt32 func(dst, x, y []int32) // modulo 2^32, like the next two
	SubInt32 func(dst, x, y []int32)
	MulInt32 func(dst, x, y []int32)

	FromInt32    func(dst []float32, x []int32)  // rounded to nearest even
	FromBFloat16 func(dst []float32, x []uint16) // exact
	MulBFloat16  func(dst []uint16, x []float32) // dst = dst · x, where that is bfloat16: the upper halves

	// ToInt8 sets dst to x · by, rounded to nearest even, plus zero, and that rounded
	// so again; beyond the ends of int8 it saturates, and NaN is 0. BFloat16ToInt8 does
	// so from bits, and asks memory for the elements that lie ahead, after as many of
	// them as it says: those of the next row.
	ToInt8         func(dst []int8, x []float32, by, zero float32)
	BFloat16ToInt8 func(dst []int8, x []uint16, by, zero float32, ahead int)

	// Cubics sets dst to the function c of x; of NaN that is NaN.
	Cubics func(dst, x []float32, c *Cubics)

	// Extremes returns the smallest and the largest element, both NaN if x has one; -0
	// is smaller than +0, and x is not empty.
	Extremes func(x []float32) (lo, hi float32)

	// AbsMax returns the largest magnitude, NaN if x has one; x is not empty.
	AbsMax         func(x []float32) float32
	AbsMaxBFloat16 func(x []uint16) float32
}

// Generic is the loops in Go.
var Generic = Loops{
	Add:    add[float32],
	Sub:    sub[float32],
	Mul:    mul[float32],
	Select: Select[float32],
	Chain:  chain,
	Max: func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = max(x[i], y[i])
		}
	},
	Min: func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = min(x[i], y[i])
		}
	},
	AddInt32: add[int32],
	SubInt32: sub[int32],
	MulInt32: mul[int32],
	FromInt32: func(dst []float32, x []int32) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = float32(x[i])
		}
	},
	FromBFloat16: fromBFloat16,
	MulBFloat16: func(dst []uint16, x []float32) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = uint16(math.Float32bits(bfloat16.Widen(dst[i])*x[i]) >> 16)
		}
	},
	ToInt8: func(dst []int8, x []float32, by, zero float32) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = Code(x[i], by, zero)
		}
	},
	BFloat16ToInt8: func(dst []int8, x []uint16, by, zero float32, _ int) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = Code(bfloat16.Widen(x[i]), by, zero)
		}
	},
	Cubics: cubics,
	Extremes: func(x []float32) (lo, hi float32) {
		lo, hi = x[0], x[0]
		for _, v := range x[1:] {
			lo, hi = min(lo, v), max(hi, v)
		}
		return lo, hi
	},
	AbsMax: func(x []float32) float32 {
		// Without their signs floats are ordered as their bits are, NaNs above all.
		var top uint32
		for _, v := range x {
			top = max(top, math.Float32bits(v)&0x7fffffff)
		}
		return math.Float32frombits(top)
	},
	AbsMaxBFloat16: func(x []uint16) float32 {
		var top uint16
		for _, v := range x {
			top = max(top, v&0x7fff)
		}
		return bfloat16.Widen(top)
	},
}

// Select sets dst to x where cond holds, or else to y.
func Select[T any](dst, x, y []T, cond []bool) {
	x, y, cond = x[:len(dst)], y[:len(dst)], cond[:len(dst)]
	for i := range dst {
		if cond[i] {
			dst[i] = x[i]
		} else {
			dst[i] = y[i]
		}
	}
}

func add[T float32 | int32](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func sub[T float32 | int32](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

func mul[T float32 | int32](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// Divide sets dst to x ÷ y.
func Divide(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

// Code is one element of ToInt8.
func Code(x, by, zero float32) int8 { return Saturate(float32(math.RoundToEven(float64(x*by))) + zero) }

// Saturate is the int8 nearest to x, ties to even; 0 for NaN.
func Saturate(x float32) int8 {
	if x != x {
		return 0
	}
	return int8(math.RoundToEven(float64(max(-128, min(127, x)))))
}

func toBFloat16(dst []uint16, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = bfloat16.Round(x[i])
	}
}

func fromBFloat16(dst []float32, x []uint16) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = bfloat16.Widen(x[i])
	}
}

// Each does of some rows, one by one, what f does of one; of rows that touch it makes one.
func Each[D, S any](f func(dst []D, x []S)) func(dst []D, ldd int, x []S, ldx, rows, n int) {
	return func(dst []D, ldd int, x []S, ldx, rows, n int) {
		if ldd == n && ldx == n {
			f(dst[:rows*n], x[:rows*n])
			return
		}
		for i := range rows {
			f(dst[i*ldd:][:n], x[i*ldx:][:n])
		}
	}
}

// Cubics is a function as cubics that follow each other in equal steps: the first
// begins at Lo, and of x element c of a cubic is the factor of t^c, where t is the
// distance from its beginning in steps.
type Cubics struct {
	Table       [][4]float64
	Lo, PerStep float64 // smaller numbers than Lo count as it
	Last        float64 // larger numbers count as this one, of the last cubic
}

// at is the function of a number.
func (c *Cubics) at(x float64) float64 {
	t := (min(max(x, c.Lo), c.Last) - c.Lo) * c.PerStep
	i := int32(t)
	f := &c.Table[i]
	t -= float64(i)
	// The conversions forbid one rounding for two operations.
	return f[0] + float64(t*(f[1]+float64(t*(f[2]+float64(t*f[3])))))
}

// cubics is the loop in Go.
func cubics(dst, x []float32, c *Cubics) {
	for i, v := range x[:len(dst)] {
		if dst[i] = v; v == v {
			dst[i] = float32(c.at(float64(v)))
		}
	}
}
