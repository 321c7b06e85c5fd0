package attentiontest

import (
	"math"
	"math/cmplx"

	"matladder/problem"
)

// rotations are ways to turn the 16 columns of Cases.
var rotations = []struct {
	name string
	problem.Rotation
}{
	{"", problem.Rotation{}},
	{" in part", problem.Rotation{Rotary: 6, At: 300}},
	{", interleaved", problem.Rotation{Interleaved: true, Base: 500}},
	{" in part, interleaved", problem.Rotation{Interleaved: true, Rotary: 10, At: 17}},
}

// columnsTurned is how many of a head's are.
func columnsTurned(p problem.Attention) int {
	if p.Rotation.Rotary > 0 {
		return p.Rotation.Rotary
	}
	return p.Dim
}

// point is what pair d at a position is multiplied by, as a complex number.
func point(p problem.Attention, position, d int) complex128 {
	base := 10000.
	if p.Rotation.Base > 0 {
		base = p.Rotation.Base
	}
	x := cmplx.Rect(1, float64(position+p.Rotation.At)*math.Pow(base, -2*float64(d)/float64(columnsTurned(p))))
	return complex(float64(float32(real(x))), float64(float32(imag(x)))) // as the cache has it
}

// pair is the columns of pair d.
func pair(p problem.Attention, d int) (first, second int) {
	if p.Rotation.Interleaved {
		return 2 * d, 2*d + 1
	}
	return d, d + columnsTurned(p)/2
}

// rotate turns x at a position, and rounds it to the dtype: pairs are complex numbers.
func rotate(p problem.Attention, x []float64, position int) {
	for d := range columnsTurned(p) / 2 {
		i, j := pair(p, d)
		y := complex(x[i], x[j]) * point(p, position, d)
		x[i], x[j] = p.Dtype.Round(real(y)), p.Dtype.Round(imag(y))
	}
}

// fromCache is element e of a table of the cache, which has a column for each pair or for each
// column that is turned.
func fromCache(p problem.Attention, name string, e, columns int) float64 {
	position, column := e/columns, e%columns
	if name == "row_cos" || name == "row_sin" {
		example := position / p.Rows
		rows, keys := p.Rows, p.Keys
		if p.Lengths {
			rows, keys = int(element(p, "lengths", 2*example, 0, nil)), int(element(p, "lengths", 2*example+1, 0, nil))
		}
		position %= p.Rows
		if p.AtEnd {
			position += keys - rows
		}
	}
	d := column
	if columns == columnsTurned(p) && p.Rotation.Interleaved {
		d = column / 2
	}
	x := point(p, position, d)
	if name == "row_cos" || name == "key_cos" {
		return real(x)
	}
	return imag(x)
}
