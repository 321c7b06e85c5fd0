package tiletest

import "matladder/tile"

// Inputs returns arrays for p, in the order of tile.Bind's In, made from a seed:
// small integers that every dtype holds, so that sums are exact in any order;
// tables hold block numbers that are in range wherever an index map looks one
// up directly.
func Inputs(p *tile.Program, seed uint64) []tile.Tensor {
	bound, err := tile.Bind([]*tile.Program{p})
	if err != nil {
		return nil // two refs of one name; Verify refuses them
	}
	tensors := make([]tile.Tensor, len(bound.In))
	for i, r := range bound.In {
		lo, hi := -3, 3
		switch {
		case r.Kind == tile.Table:
			lo, hi = 0, smallestIndex(p, r)
		case r.Dtype == tile.Uint8:
			lo, hi = 0, 6
		}
		t := tile.NewTensor(r.Dtype, r.Array...)
		for e := range t.Len() {
			seed = seed*6364136223846793005 + 1442695040888963407 // Knuth's MMIX constants
			t.Set(e, float64(lo+int(seed>>33)%(hi-lo+1)))
		}
		tensors[i] = t
	}
	return tensors
}

// smallestIndex is the largest value of table that is a block of every array
// whose index map looks it up.
func smallestIndex(p *tile.Program, table *tile.Ref) int {
	top := 1<<31 - 1
	for _, r := range p.Refs {
		for d, x := range r.Index {
			if l, ok := x.(tile.Lookup); ok && l.Table == table {
				top = min(top, r.Blocks()[d]-1)
			}
		}
	}
	if top == 1<<31-1 {
		return 0
	}
	return top
}
