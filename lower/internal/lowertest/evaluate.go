package lowertest

import (
	"context"
	"math"

	"matladder/backend"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

func nanOr(x, y, of float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	return of
}

// floats are operations of MLIR on float32 numbers, for tests that run texts; those of one
// operand ignore y.
var floats = map[string]func(x, y float64) float64{
	"arith.addf":      func(x, y float64) float64 { return x + y },
	"arith.subf":      func(x, y float64) float64 { return x - y },
	"arith.mulf":      func(x, y float64) float64 { return x * y },
	"arith.divf":      func(x, y float64) float64 { return x / y },
	"tt.precise_divf": func(x, y float64) float64 { return x / y },
	"arith.maximumf":  func(x, y float64) float64 { return nanOr(x, y, max(x, y)) },
	"arith.minimumf":  func(x, y float64) float64 { return nanOr(x, y, min(x, y)) },
	"arith.negf":      func(x, _ float64) float64 { return -x },
	"math.absf":       func(x, _ float64) float64 { return math.Abs(x) },
	"math.exp":        func(x, _ float64) float64 { return math.Exp(x) },
	"math.exp2":       func(x, _ float64) float64 { return math.Exp2(x) },
	"math.log":        func(x, _ float64) float64 { return math.Log(x) },
	"math.tanh":       func(x, _ float64) float64 { return math.Tanh(x) },
	"math.rsqrt":      func(x, _ float64) float64 { return 1 / math.Sqrt(x) },
	"math.roundeven":  func(x, _ float64) float64 { return math.RoundToEven(x) },
	"tt.precise_sqrt": func(x, _ float64) float64 { return math.Sqrt(x) },
}

// Floats are operations on float32 numbers by name: those that a compiler has.
func Floats(names ...string) map[string]func(x, y float64) float64 {
	list := map[string]func(x, y float64) float64{}
	for _, name := range names {
		if list[name] = floats[name]; list[name] == nil {
			panic("lowertest: no operation " + name)
		}
	}
	return list
}

// Integers are operations on integers by name.
var Integers = map[string]func(x, y int64) int64{
	"arith.addi":  func(x, y int64) int64 { return x + y },
	"arith.subi":  func(x, y int64) int64 { return x - y },
	"arith.muli":  func(x, y int64) int64 { return x * y },
	"arith.divsi": func(x, y int64) int64 { return x / y },
	"arith.remsi": func(x, y int64) int64 { return x % y },
	"arith.maxsi": func(x, y int64) int64 { return max(x, y) },
	"arith.minsi": func(x, y int64) int64 { return min(x, y) },
	"arith.andi":  func(x, y int64) int64 { return x & y },
	"arith.ori":   func(x, y int64) int64 { return x | y },
	"arith.xori":  func(x, y int64) int64 { return x ^ y },
	"arith.shli":  func(x, y int64) int64 { return x << y },
	"arith.shrsi": func(x, y int64) int64 { return x >> y },
	"math.absi":   func(x, _ int64) int64 { return max(x, -x) },
}

// Junk is what tests put into memory that nobody has written: NaN, or an integer that is
// easily told from a result.
func Junk(elem string) float64 {
	switch {
	case mlir.IsFloat(elem):
		return math.NaN()
	case elem == "i4":
		return -8
	}
	return -77
}

// Held is x, a value of d, as the texts have it that have no unsigned integers, and numbers of few
// bits as codes; Meant is the opposite.
func Held(d tile.Dtype, x float64) float64 {
	switch d {
	case tile.Float4E2M1FN:
		return float64(int8(d.Code(x)<<4) >> 4)
	case tile.Float8E8M0FNU:
		return float64(int8(d.Code(x)))
	case tile.Uint8:
		return float64(int8(uint8(x)))
	}
	return x
}

// Meant is the value of d that a text has as x.
func Meant(d tile.Dtype, x float64) float64 {
	switch d {
	case tile.Float4E2M1FN:
		return d.Value(byte(int8(x)) & 0xF)
	case tile.Float8E8M0FNU:
		return d.Value(byte(int8(x)))
	case tile.Uint8:
		return float64(uint8(int8(x)))
	}
	return x
}

// Bitcast is an i32 as an f32, or the other way round.
func Bitcast(to string, x float64) float64 {
	if to == "f32" {
		return float64(math.Float32frombits(uint32(int32(x))))
	}
	return float64(int32(math.Float32bits(float32(x))))
}

// Unpoisoned is the part of an executable that lets nobody poison its outputs: each Run makes
// new ones.
type Unpoisoned struct{}

// Poison is not supported.
func (Unpoisoned) Poison(context.Context) error { return backend.ErrUnsupported }
