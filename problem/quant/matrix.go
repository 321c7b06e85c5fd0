package quant

import (
	"matladder/internal/each"
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
	return each.Upto(n, func(i int) Step { return Fit(lo[i], hi[i], d, g) })
}
