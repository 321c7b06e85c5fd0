package vexp

import "math/big"

// bigFMA is x·y + z in exact arithmetic, rounded once.
func bigFMA(x, y, z float32) float32 {
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(float64(v)) }
	sum := new(big.Float).SetPrec(400).Mul(exact(x), exact(y))
	sum.Add(sum, exact(z))
	f, _ := sum.Float32()
	return f
}
