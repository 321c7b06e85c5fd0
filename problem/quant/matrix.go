package quant

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Grouping says which elements of a matrix share a step.
type Grouping struct {
	Grain      problem.Grain // Tensor, Channel, Token, Block or TokenBlock
	Block      int           // elements of a column, or of a row, that share a step, of the last two
	Asymmetric bool
	Scales     tile.Dtype // of groups of k, as a Scheme has them; InvalidDtype counts as float32
	Up         bool       // powers of two are rounded up
	All        float32    // the scale of the whole operand beside those of float8_e4m3fn; see ScaleOfAll
}

// GroupingOf is that of operand a or b of a scheme, without the scale of a whole operand.
func GroupingOf(s problem.Scheme, a bool) Grouping {
	g := Grouping{Grain: s.B, Block: s.Block, Asymmetric: s.ZeroB}
	if a {
		g.Grain, g.Asymmetric = s.A, s.ZeroA
	}
	if g.Grain >= problem.Block {
		g.Scales, g.Up = s.Scales, s.Up
	}
	return g
}

// Matrix is a quantized matrix of rows × columns.
type Matrix struct {
	Codes  tile.Tensor
	Scales tile.Tensor // of Shape(rows, cols), float32 unless the Grouping says otherwise
	Zeros  tile.Tensor // int32, of the same shape; no data if symmetric
	Grouping
}

// Shape is that of the scales of a matrix of rows × cols: (1, 1), (1, cols),
// (rows, 1), (groups, 1, cols) for blocks of a column, or (rows, groups) for those of a row.
func (g Grouping) Shape(rows, cols int) []int {
	switch g.Grain {
	case problem.Channel:
		return []int{1, cols}
	case problem.Token:
		return []int{rows, 1}
	case problem.Block:
		return []int{tile.Ceil(rows, g.Block), 1, cols}
	case problem.TokenBlock:
		return []int{rows, tile.Ceil(cols, g.Block)}
	}
	return []int{1, 1}
}

// Group is which step element (row, col) of a matrix of cols columns has, as an
// index into the scales.
func (g Grouping) Group(row, col, cols int) int {
	switch g.Grain {
	case problem.Channel:
		return col
	case problem.Token:
		return row
	case problem.Block:
		return row/g.Block*cols + col
	case problem.TokenBlock:
		return row*tile.Ceil(cols, g.Block) + col/g.Block
	}
	return 0
}

// Quantize returns x, a matrix of float32 or bfloat16, in codes of d.
func Quantize(x tile.Tensor, d tile.Dtype, g Grouping) (Matrix, error) {
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
	steps := Fits(rows, cols, d, g, func(row, col int) float32 { return float32(x.At(row*cols + col)) })
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

// Fits returns the step of every group of a matrix whose elements at gives.
func Fits(rows, cols int, d tile.Dtype, g Grouping, at func(row, col int) float32) []Step {
	n := int(tile.Elements(g.Shape(rows, cols)))
	lo, hi := make([]float32, n), make([]float32, n)
	for i := range lo {
		lo[i], hi[i] = Extremes(nil)
	}
	for row := range rows {
		for col := range cols {
			x, i := at(row, col), g.Group(row, col, cols)
			lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
		}
	}
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = Fit(lo[i], hi[i], d, g)
	}
	return steps
}

// At is what element (row, col) stands for.
func (m Matrix) At(row, col int) float64 {
	cols := m.Codes.Shape[1]
	i := m.Group(row, col, cols)
	s := Step{Scale: float32(m.Scales.At(i)) * m.all(), Dtype: m.Codes.Dtype}
	if m.Asymmetric {
		s.Zero = m.Zeros.Int32s()[i]
	}
	return s.Real(m.Codes.At(row*cols + col))
}
