// Package vexp has the loops of a softmax along a row: exponentials of differences,
// and sums.
//
//  1. Generic is the loops in Go, which say what each computes, to the bit.
//  2. For has the same in assembly for AVX2 and AVX-512.
//
// An exponential is 2^(n+t), n a whole number and t at most ½ in size: a polynomial of degree 6
// in t, multiplied by 2^n. Its coefficients are those of the smallest relative error on that
// interval (Remez; 1.9e-9), so that what is left is rounding: below one unit in the last place of
// 2^x (measured 0.94 over all of −126 … 127), below 1.1 of e^x. Results below 2^-126 are rounded
// once, like all others; arguments beyond the range give 0 and infinity, NaN gives NaN.
package vexp

import (
	"math"
	"slices"
)

// Loops are the loops for one instruction set. Slices of one call have the same
// length, but for those of rows; dst may be x.
type Loops struct {
	Exp  func(dst, x []float32, less float32) // dst = e^(x−less), the difference rounded
	Exp2 func(dst, x []float32, less float32) // dst = 2^(x−less), the difference rounded

	// Sum is the sum of x: element i goes to the sum number i mod 32, and those are
	// added in halves. Rounding errors grow as len(x)/32 and not as len(x).
	Sum func(x []float32) float32

	// Largest is the largest element, NaN if x has one; +0 is larger than -0, and x is not empty.
	Largest func(x []float32) float32

	// These do the same for n elements of each row, ldd and ldx elements apart: for as many rows
	// as there are numbers in less, or in dst where each row becomes one.
	ExpRows, Exp2Rows    func(dst []float32, ldd int, x []float32, ldx int, less []float32, n int)
	SumRows, LargestRows func(dst, x []float32, ldx, n int)
}

// byRow has the loops over rows call those of one row.
func (l Loops) byRow() Loops {
	l.ExpRows, l.Exp2Rows = eachExp(l.Exp), eachExp(l.Exp2)
	l.SumRows, l.LargestRows = eachOne(l.Sum), eachOne(l.Largest)
	return l
}

func eachExp(f func(dst, x []float32, less float32)) func(dst []float32, ldd int, x []float32, ldx int, less []float32, n int) {
	return func(dst []float32, ldd int, x []float32, ldx int, less []float32, n int) {
		for i, v := range less {
			f(dst[i*ldd:][:n], x[i*ldx:][:n], v)
		}
	}
}

func eachOne(f func(x []float32) float32) func(dst, x []float32, ldx, n int) {
	return func(dst, x []float32, ldx, n int) {
		for i := range dst {
			dst[i] = f(x[i*ldx:][:n])
		}
	}
}

// Generic is the loops in Go.
var Generic = Loops{
	Exp: func(dst, x []float32, less float32) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = exp(x[i] - less)
		}
	},
	Exp2: func(dst, x []float32, less float32) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = exp2(x[i] - less)
		}
	},
	Sum: func(x []float32) float32 {
		var sums [sumLanes]float32
		add(&sums, x)
		return halves(&sums)
	},
	Largest: slices.Max[[]float32],
}.byRow()

// The arguments beyond which results are 0 or infinity anyway.
const (
	mostExp  = 150
	mostExp2 = 200
)

// log₂e in two parts.
const (
	log2E     = 1.44269502
	log2ERest = 1.92596303e-8
)

// coefficients are those of 2^t, the constant first.
var coefficients = [...]float32{1, 0.693147206, 0.240226469, 0.0555032878, 0.00961848896, 0.00133999312, 0.00015345812}

func exp2(x float32) float32 {
	x = clamp(x, mostExp2)
	n := roundEven(x)
	return power(x-n, n)
}

func exp(x float32) float32 {
	x = clamp(x, mostExp)
	n := roundEven(x * log2E)
	return power(fma(x, log2ERest, fma(x, log2E, -n)), n)
}

// power is 2^(t+n).
func power(t, n float32) float32 {
	p := coefficients[len(coefficients)-1]
	for i := len(coefficients) - 2; i >= 0; i-- {
		p = fma(p, t, coefficients[i])
	}
	if n != n {
		return n
	}
	return float32(math.Ldexp(float64(p), int(n)))
}

// clamp keeps NaN, as the order of the operands of VMAXPS and VMINPS does.
func clamp(x, most float32) float32 {
	switch {
	case x < -most:
		return -most
	case x > most:
		return most
	}
	return x
}

func roundEven(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// fma is x·y + z, rounded once. The product is exact in float64. Where the sum is
// not, its last bit is set, which keeps the second rounding from seeing a tie.
func fma(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := float64(p + c)
	b := float64(s - p)
	lost := float64(p-float64(s-b)) + float64(c-b)
	if bits := math.Float64bits(s); lost != 0 && lost == lost && bits&1 == 0 {
		if (lost > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

const sumLanes = 32

// add adds what Sum says; x begins with an element of the first sum.
func add(sums *[sumLanes]float32, x []float32) {
	for len(x) >= sumLanes {
		for i := range sums {
			sums[i] += x[i]
		}
		x = x[sumLanes:]
	}
	for i, v := range x {
		sums[i] += v
	}
}

// halves adds the sums, the second half to the first until there is one.
func halves(sums *[sumLanes]float32) float32 {
	for n := sumLanes / 2; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
