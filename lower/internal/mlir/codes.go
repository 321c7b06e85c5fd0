package mlir

import (
	"math"

	"matladder/tile"
)

// Kernels hold float4_e2m1fn and float8_e8m0fnu as integers of their bits, which few compilers
// take for numbers.

// Codes is Stored with those as integers, float4_e2m1fn in elements of a type that keeps its sign.
func Codes(float4 string) map[tile.Dtype]string {
	m := map[tile.Dtype]string{tile.Float4E2M1FN: float4, tile.Float8E8M0FNU: "i8"}
	for d, elem := range Stored {
		if _, is := m[d]; !is {
			m[d] = elem
		}
	}
	return m
}

// IsCode reports whether elements of a type are codes of d.
func IsCode(d tile.Dtype, elem string) bool {
	return (d == tile.Float4E2M1FN || d == tile.Float8E8M0FNU) && !IsFloat(elem)
}

// magnitudes are the sizes of float4_e2m1fn, doubled, in four bits each: 0, 1, 2, 3, 4, 6, 8, 12.
const magnitudes = math.MinInt32 | 0x48643210

// decoded is the f32 of codes of d.
func (w *Exprs) decoded(v Value, d tile.Dtype) Value {
	if d == tile.Float4E2M1FN {
		n := w.Once(v.Of("i32"), "arith.extsi", "", v)
		at := w.Apply("arith.andi", w.Apply("arith.shli", n, w.Int(2)), w.Int(28))
		twice := w.Apply("arith.andi", w.Apply("arith.shrsi", w.Int(magnitudes), at), w.Int(15))
		half := w.Choose(w.Compare(n, tile.LT, w.Int(0)), Number("f32", -0.5), Number("f32", 0.5))
		return w.Apply("arith.mulf", w.cast("arith.sitofp", twice, "f32"), half)
	}
	n := w.Once(v.Of("i32"), "arith.extui", "", v)
	bits := w.Apply("arith.maxsi", w.Apply("arith.shli", n, w.Int(23)), w.Int(1<<22)) // 2^-127 is not normal
	return w.Choose(w.Compare(n, tile.EQ, w.Int(255)), Number("f32", math.NaN()), w.cast("arith.bitcast", bits, "f32"))
}

// encoded is the codes of d nearest to f32 numbers: ties to even of float4_e2m1fn, which
// saturates, and up of float8_e8m0fnu.
func (w *Exprs) encoded(v Value, d tile.Dtype, elem string) Value {
	bits := w.cast("arith.bitcast", v, "i32")
	n := w.Int(0)
	if d == tile.Float4E2M1FN {
		size := w.Apply("math.absf", v)
		for i, least := range []float64{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5} {
			n = w.Apply("arith.addi", n, w.FromBool(w.Compare(size, []tile.Comparison{tile.GT, tile.GE}[i%2], Number("f32", least))))
		}
		n = w.Choose(w.Compare(bits, tile.LT, w.Int(0)), w.Apply("arith.subi", n, w.Int(8)), n)
	} else {
		n = w.Apply("arith.shrsi", w.Apply("arith.addi", bits, w.Int(1<<22)), w.Int(23))
		has := w.Apply("arith.andi", w.Compare(v, tile.GT, Number("f32", 0)), w.Compare(v, tile.LT, Number("f32", 0x1.8p127)))
		n = w.Choose(has, n, w.Int(255))
	}
	return w.Once(n.Of(elem), "arith.trunci", "", n)
}

// code is the number that an element type of codes of d has for x.
func code(d tile.Dtype, x float64) float64 {
	if d == tile.Float4E2M1FN {
		return float64(int8(d.Code(x)<<4) >> 4)
	}
	return float64(int8(d.Code(x)))
}
