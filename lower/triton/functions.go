package triton

import (
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// The functions that Triton leaves to a library of CUDA's, which is in no wheel
// beside the plugin, are written out here.

// function is a function of floats.
func (k *kernel) function(op tile.Op, x value) value {
	if _, known := x.Known(); known {
		x = k.Vector(x, shaped{Elem: "f32", Dims: []int{1, 1}})
	}
	switch op {
	case tile.OpRsqrt:
		return k.Apply("tt.precise_divf", mlir.Number("f32", 1), k.Apply("tt.precise_sqrt", x))
	case tile.OpRoundEven:
		return k.RoundEven(x)
	}
	return k.tanh(x)
}

// RoundEven rounds the size of x by adding 2²³, whose last bit counts ones. What is
// no smaller has no fraction.
func (k *kernel) RoundEven(x value) value {
	size := k.Apply("math.absf", x)
	r := k.Apply("arith.subf", k.Apply("arith.addf", size, mlir.Number("f32", 1<<23)), mlir.Number("f32", 1<<23))
	r = k.Choose(k.Compare(x, tile.LT, mlir.Number("f32", 0)), k.Apply("arith.negf", r), r)
	return k.Choose(k.Compare(size, tile.LT, mlir.Number("f32", 1<<23)), r, x)
}

// Clamp is x, but lo where it is less and hi where it is more.
func (k *kernel) Clamp(x value, lo, hi float64) value {
	return k.Apply("arith.maximumf", k.Apply("arith.minimumf", x, mlir.Number("f32", hi)), mlir.Number("f32", lo))
}

// tanh is the quotient of two polynomials, those of Eigen's generic_fast_tanh_float;
// what is small enough is its own tanh.
func (k *kernel) tanh(x value) value {
	y := k.Clamp(x, -7.90531110763549805, 7.90531110763549805)
	z := k.Apply("arith.mulf", y, y)
	p := k.Polynomial(z, -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
		1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)
	q := k.Polynomial(z, 1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
	r := k.Apply("tt.precise_divf", k.Apply("arith.mulf", y, p), q)
	return k.Choose(k.Compare(k.Apply("math.absf", x), tile.LT, mlir.Number("f32", 0.0004)), x, r)
}
