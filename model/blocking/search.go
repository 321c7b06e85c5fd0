package blocking

import (
	"matladder/internal/each"
	"matladder/tile"
)

// search lists the block shapes that are worth a look: the sides of c cut into equal parts, and
// k whole or cut into equal parts of some hundreds.
func (x *product) search(given tile.Blocks) []tile.Blocks {
	var list []tile.Blocks
	for _, bm := range parts(x.m, x.rate.Rows, x.rate.Rows, 4*x.workers) {
		for _, bn := range parts(x.n, x.rate.Columns, x.rate.Few, 8*x.workers) {
			for _, bk := range x.depths() {
				if b := (tile.Blocks{M: bm, K: bk, N: bn}); matches(b, given) {
					list = append(list, b)
				}
			}
		}
	}
	return list
}

// parts are lengths that cut n into 1, 2, 3 … most parts as equal as can be: each rounded up to
// whole units, and as it is where it has few rows or columns beyond whole units. Of many units
// the latter would save next to nothing.
func parts(n, unit, few, most int) []int {
	const many = 16
	var list []int
	add := func(size int) {
		list = each.With(list, size)
	}
	for p := 1; p <= most; p++ {
		size := tile.Ceil(n, p)
		add(min(n, tile.Ceil(size, unit)*unit))
		if size > unit && size < many*unit && size%unit <= few {
			add(size)
		}
		if p > 8 {
			p += p / 4
		}
	}
	return list
}

// depths are lengths along k.
func (x *product) depths() []int {
	const least = 512
	list := []int{x.k}
	for p := 2; x.k/p >= least; p *= 2 {
		list = append(list, tile.Ceil(tile.Ceil(x.k, p), 64)*64)
	}
	return list
}
