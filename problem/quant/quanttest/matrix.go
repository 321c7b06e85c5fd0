// Package quanttest quantizes whole matrices, as the reference of what kernels do on the fly. It
// refuses groups of shapes that package quant does not have.
package quanttest

import (
	"fmt"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

// Matrix is a quantized matrix of rows × columns.
type Matrix struct {
	Codes  tile.Tensor
	Scales tile.Tensor // of Shape(rows, cols), float32 unless the Grouping says otherwise
	Zeros  tile.Tensor // int32, of the same shape; no data if symmetric
	quant.Grouping
}

// Quantize returns x, a matrix of float32 or bfloat16, in codes of d.
func Quantize(x tile.Tensor, d tile.Dtype, g quant.Grouping) (Matrix, error) {
	if err := supports(d, g.Asymmetric); err != nil {
		return Matrix{}, err
	}
	switch {
	case len(x.Shape) != 2:
		return Matrix{}, fmt.Errorf("quant: an array of shape %v; it takes matrices", x.Shape)
	case x.Dtype != tile.Float32 && x.Dtype != tile.BFloat16:
		return Matrix{}, fmt.Errorf("quant: the matrix is %s; it takes float32 and bfloat16", x.Dtype)
	case g.Grain == problem.NoGrain || g.Grain > problem.TokenBlock:
		return Matrix{}, fmt.Errorf("quant: elements that share a scale: none")
	case g.Grain >= problem.Block && g.Block < 1:
		return Matrix{}, fmt.Errorf("quant: blocks of %d elements", g.Block)
	}
	rows, cols := x.Shape[0], x.Shape[1]
	steps := quant.Fits(rows, cols, d, g, func(row, col int) float32 { return float32(x.At(row*cols + col)) })
	if g.Scales == tile.InvalidDtype {
		g.Scales = tile.Float32
	}
	m := Matrix{Codes: tile.NewTensor(d, rows, cols), Scales: tile.NewTensor(g.Scales, g.Shape(rows, cols)...), Grouping: g}
	if g.Asymmetric {
		m.Zeros = tile.NewTensor(tile.Int32, g.Shape(rows, cols)...)
	}
	for i, s := range steps {
		m.Scales.Set(i, float64(s.Stored))
		if g.Asymmetric {
			m.Zeros.Int32s()[i] = s.Zero
		}
	}
	for row := range rows {
		for col := range cols {
			at := row*cols + col
			m.Codes.Set(at, steps[g.Group(row, col, cols)].Quantize(float32(x.At(at))))
		}
	}
	return m, nil
}

// supports returns why d has no codes, or nil; asymmetric ones are integers.
func supports(d tile.Dtype, asymmetric bool) error {
	switch d {
	case tile.Int8, tile.Int4:
		return nil
	case tile.Float8E4M3FN, tile.Float8E5M2, tile.Float4E2M1FN:
		if asymmetric {
			return fmt.Errorf("quant: %s has no zero point", d)
		}
		return nil
	}
	return fmt.Errorf("quant: no codes in %s (int8, int4, float8_e4m3fn, float8_e5m2 and float4_e2m1fn have)", d)
}

// At is what element (row, col) stands for.
func (m Matrix) At(row, col int) float64 {
	cols := m.Codes.Shape[1]
	i := m.Group(row, col, cols)
	all := float32(1) // the scale of the whole operand
	if m.Grouping.Scales == tile.Float8E4M3FN {
		all = m.All
	}
	s := quant.Step{Scale: float32(m.Scales.At(i)) * all, Dtype: m.Codes.Dtype}
	if m.Asymmetric {
		s.Zero = m.Zeros.Int32s()[i]
	}
	return s.Real(m.Codes.At(row*cols + col))
}

// Measure compares got with want, of one length.
func Measure(got, want []float64) quant.Error {
	var s quant.Sum
	for i, w := range want {
		s.Add(got[i], w)
	}
	return s.Error()
}
