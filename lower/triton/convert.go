package triton

import (
	"matladder/tile"

	"matladder/lower/internal/mlir"
)

// convert casts a value of dtype from to dtype to: floats round to nearest even,
// integers saturate, NaN becomes integer 0. An int32 reaches a float narrower
// than float32 by way of float32.
func (k *kernel) convert(x value, from, to tile.Dtype) value {
	if x.number != nil {
		return constant(mlir.Working(to), to.Round(*x.number))
	}
	switch {
	case from == tile.Bool:
		return k.convert(k.fromBool(x), tile.Int32, to)
	case to == tile.Bool && from.IsFloat():
		return k.compare(k.wide(x, from), tile.GT, constant("f32", 0.5)) // what rounds to 1 or more
	case to == tile.Bool:
		return k.compare(k.wide(x, from), tile.GT, integer(0))
	case to.IsFloat() && from.IsFloat():
		return k.narrow(k.wide(x, from), to)
	case to == tile.BFloat16 && (from == tile.Int8 || from == tile.Int4) && x.elem == storage[from]:
		return k.fromInteger(x, "bf16") // exact, and one step on the way to a Dot
	case to.IsFloat():
		return k.narrow(k.fromInteger(k.wide(x, from), "f32"), to)
	case from.IsFloat():
		return k.toInteger(k.wide(x, from), to)
	}
	lo, hi := to.Range()
	x = k.wide(x, from)
	if least, most := from.Range(); lo <= least && most <= hi {
		return x
	}
	return k.binary("arith.minsi", k.binary("arith.maxsi", x, integer(int(lo))), integer(int(hi)))
}

func (k *kernel) fromInteger(x value, elem string) value {
	if x.dims == nil {
		x = k.vector(x, shaped{x.elem, []int{1, 1}})
	}
	to := x.of(elem)
	return k.op(to, "arith.sitofp %s : %s to %s", x.name, x.shaped, to)
}

// toInteger rounds an f32 to nearest even and saturates. The largest int32 is no
// f32, so that the end of the range needs a comparison.
func (k *kernel) toInteger(x value, to tile.Dtype) value {
	x = k.choose(k.compare(x, tile.EQ, x), x, constant("f32", 0))
	x = k.function(tile.OpRoundEven, x)
	lo, hi := to.Range()
	const below = 1<<31 - 128 // the largest f32 that is an int32
	y := k.clampedTo(x, lo, min(hi, below))
	n := k.op(y.of("i32"), "arith.fptosi %s : %s to %s", y.name, y.shaped, y.of("i32"))
	if to != tile.Int32 {
		return n
	}
	return k.choose(k.compare(x, tile.GE, constant("f32", 1<<31)), integer(int(hi)), n)
}

// wrapped keeps the bits of an i32 that integer type d has; floats pass.
func (k *kernel) wrapped(x value, d tile.Dtype) value {
	switch d {
	case tile.Uint8:
		return k.binary("arith.andi", x, integer(0xFF))
	case tile.Int8, tile.Int4:
		by := integer(32 - d.Bits())
		return k.binary("arith.shrsi", k.binary("arith.shli", x, by), by)
	}
	return x
}
