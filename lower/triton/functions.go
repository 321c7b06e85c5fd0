package triton

import "matladder/tile"

// The functions that Triton leaves to a library of CUDA's, which is in no wheel
// beside the plugin, are written out here.

// function is a function of floats.
func (k *kernel) function(op tile.Op, x value) value {
	if x.number != nil {
		x = k.vector(x, shaped{"f32", []int{1, 1}})
	}
	switch op {
	case tile.OpRsqrt:
		return k.binary("tt.precise_divf", constant("f32", 1), k.unary("tt.precise_sqrt", x))
	case tile.OpRoundEven:
		return k.roundEven(x)
	}
	return k.tanh(x)
}

// roundEven rounds the size of x by adding 2²³, whose last bit counts ones. What is
// no smaller has no fraction.
func (k *kernel) roundEven(x value) value {
	size := k.unary("math.absf", x)
	r := k.binary("arith.subf", k.binary("arith.addf", size, constant("f32", 1<<23)), constant("f32", 1<<23))
	r = k.choose(k.compare(x, tile.LT, constant("f32", 0)), k.unary("arith.negf", r), r)
	return k.choose(k.compare(size, tile.LT, constant("f32", 1<<23)), r, x)
}

// clampedTo is x, but lo where it is less and hi where it is more.
func (k *kernel) clampedTo(x value, lo, hi float64) value {
	return k.binary("arith.maximumf", k.binary("arith.minimumf", x, constant("f32", hi)), constant("f32", lo))
}

// tanh is the quotient of two polynomials, those of Eigen's generic_fast_tanh_float;
// what is small enough is its own tanh.
func (k *kernel) tanh(x value) value {
	y := k.clampedTo(x, -7.90531110763549805, 7.90531110763549805)
	z := k.binary("arith.mulf", y, y)
	p := k.values().Polynomial(z, -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
		1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)
	q := k.values().Polynomial(z, 1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
	r := k.binary("tt.precise_divf", k.binary("arith.mulf", y, p), q)
	return k.choose(k.compare(k.unary("math.absf", x), tile.LT, constant("f32", 0.0004)), x, r)
}
