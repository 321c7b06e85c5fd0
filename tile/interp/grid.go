package interp

import (
	"iter"
	"math/rand/v2"
	"slices"

	"matladder/tile"
)

// order yields the program ids of every program of the grid: in row-major order, the last axis
// fastest, or, for a seed, one parallel program after another in random order, each of them
// row-major over its Arbitrary axes. The slice is reused.
func order(grid []*tile.Axis, seed uint64) iter.Seq[[]int] {
	var shuffled, inOrder []int
	var rest []*tile.Axis // those that are in order
	count := 1
	for d, a := range grid {
		if seed != 0 && a.Semantics == tile.Parallel {
			shuffled = append(shuffled, d)
			count *= a.Size
		} else {
			inOrder, rest = append(inOrder, d), append(rest, a)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	return func(yield func([]int) bool) {
		ids := make([]int, len(grid))
		for _, n := range random.Perm(count) {
			for _, d := range slices.Backward(shuffled) {
				ids[d] = n % grid[d].Size
				n /= grid[d].Size
			}
			for at := range tile.Points(rest) {
				for i, d := range inOrder {
					ids[d] = at.IDs()[i]
				}
				if !yield(ids) {
					return
				}
			}
		}
	}
}

// continues reports whether the program just before ids in row-major order has the same Parallel
// coordinates, so that this one may rely on what it left in scratch and in the output block. It
// depends on ids alone, not on the order that is run.
func continues(grid []*tile.Axis, ids []int) bool {
	for d := len(grid) - 1; d >= 0; d-- {
		switch {
		case grid[d].Semantics == tile.Parallel && grid[d].Size > 1:
			return false
		case ids[d] > 0:
			return true
		}
	}
	return false
}
