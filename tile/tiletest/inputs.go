package tiletest

import "matladder/tile"

// Inputs returns arrays for p, in the order of tile.Bind's In, made from a seed: small integers
// that every dtype holds, so that sums are exact in any order; tables hold block numbers that are
// in range wherever an index map looks one up directly, and bounds of axes from 1 on.
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
			lo, hi = tableRange(p, r)
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

// tableRange has the values of table that are a block of every array whose index
// map looks it up, or a number of programs that leaves no output unwritten.
func tableRange(p *tile.Program, table *tile.Ref) (lo, hi int) {
	top := 1<<31 - 1
	for _, a := range p.Grid {
		if l, ok := a.Bound.(tile.Lookup); ok && l.Table == table {
			lo, top = 1, a.Size
		}
	}
	for _, r := range p.Refs {
		for d, x := range r.Index {
			if l, ok := x.(tile.Lookup); ok && l.Table == table {
				top = min(top, r.Blocks()[d]-1)
			}
		}
	}
	if top == 1<<31-1 {
		return 0, 0
	}
	return lo, top
}
