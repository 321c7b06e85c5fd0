package plots

import "slices"

// spread moves intervals of the given heights, wanted with their centres at
// want, so that none overlap and all lie within lo..hi, each moved as little
// as the others allow (least squares: neighbours that collide are merged into
// a block that is placed at the mean of what its members want). It returns
// the centres in the order of want, and false if the heights do not fit.
func spread(want, height []float64, lo, hi float64) ([]float64, bool) {
	type block struct {
		first, last int     // in order
		height      float64 // of all members
		sum         float64 // of where each member would have the block's bottom
	}
	order := make([]int, len(want))
	total := 0.0
	for i := range order {
		order[i] = i
		total += height[i]
	}
	if total > hi-lo {
		return nil, false
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case want[i] < want[j]:
			return -1
		case want[i] > want[j]:
			return 1
		}
		return j - i // of equals the first stands highest
	})
	bottom := func(b block) float64 {
		place := b.sum / float64(b.last-b.first+1)
		return max(lo, min(hi-b.height, place))
	}
	var blocks []block
	for at, i := range order {
		blocks = append(blocks, block{at, at, height[i], want[i] - height[i]/2})
		for n := len(blocks); n > 1; n = len(blocks) {
			under, over := blocks[n-2], blocks[n-1]
			if bottom(under)+under.height <= bottom(over) {
				break
			}
			members := float64(over.last - over.first + 1)
			blocks = append(blocks[:n-2], block{
				under.first, over.last, under.height + over.height,
				under.sum + over.sum - members*under.height,
			})
		}
	}
	centre := make([]float64, len(want))
	for _, b := range blocks {
		y := bottom(b)
		for _, i := range order[b.first : b.last+1] {
			centre[i] = y + height[i]/2
			y += height[i]
		}
	}
	return centre, true
}
