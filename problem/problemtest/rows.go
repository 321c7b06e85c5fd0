package problemtest

import (
	"math"
	"math/rand/v2"

	"matladder/tile"
)

// Rows is a matrix to be quantized: rows of random numbers, among them rows of
// zeros, of equal elements, of halves of a code, of numbers so small that scales
// would not be normal, and, unless all rows share a scale, rows with a NaN and with
// infinities.
func Rows(d tile.Dtype, rows, cols int, shared bool) tile.Tensor {
	rng := rand.New(rand.NewPCG(11, uint64(rows*cols)))
	x := tile.NewTensor(d, rows, cols)
	for row := range rows {
		for col := range cols {
			v := rng.NormFloat64()
			switch row % 8 {
			case 1:
				v = 0
			case 2:
				v = -1.5
			case 3: // with 127 in the row, the scale is 1
				if v = float64(rng.IntN(255)-127) / 2; col == 0 {
					v = 127
				}
			case 4:
				v = math.Ldexp(v, -130+col%6)
			}
			x.Set(row*cols+col, v)
		}
		if shared {
			continue
		}
		switch row % 8 {
		case 5:
			x.Set(row*cols+rng.IntN(cols), math.NaN())
		case 6:
			x.Set(row*cols+rng.IntN(cols), math.Inf(1-2*rng.IntN(2)))
		}
	}
	return x
}

// Halves is a matrix to be quantized whose elements are next to the middle between
// two codes: the last bit of a scale, or of what is multiplied by its inverse,
// decides between them.
func Halves(d tile.Dtype, rows, cols int) tile.Tensor {
	rng := rand.New(rand.NewPCG(12, uint64(rows*cols)))
	x := tile.NewTensor(d, rows, cols)
	for i := range x.Len() {
		most := 1 + float32(i/cols)/37
		steps := []float32{most * float32(1/127.0), 2 * most * float32(1/255.0), most * float32(1/7.0)}
		switch col := i % cols; col {
		case 0, 1:
			x.Set(i, float64(most)*float64(1-2*col))
		default:
			step := steps[rng.IntN(len(steps))]
			code := rng.IntN(2*int(most/step)) - int(most/step)
			x.Set(i, float64((float32(code)+0.5)*step))
		}
	}
	return x
}
