package blocking

import (
	"slices"

	"matladder/tile"
)

// search lists the block shapes that are worth a look: the sides of c cut into equal
// numbers of register tiles, and k whole or cut into equal parts of some hundreds.
func (x *model) search() []tile.Blocks {
	var list []tile.Blocks
	for _, bm := range parts(x.m, x.rate.Rows, 4*x.workers) {
		for _, bn := range parts(x.n, x.rate.Columns, 8*x.workers) {
			for _, bk := range x.depths() {
				list = append(list, tile.Blocks{M: bm, K: bk, N: bn})
			}
		}
	}
	return list
}

// parts are lengths that cut n into 1, 2, 3 … most equal parts of whole units.
func parts(n, unit, most int) []int {
	var list []int
	for p := 1; p <= most; p++ {
		size := min(n, tile.Ceil(tile.Ceil(n, p), unit)*unit)
		if !slices.Contains(list, size) {
			list = append(list, size)
		}
		if p > 8 {
			p += p / 4
		}
	}
	return list
}

// depths are lengths along k.
func (x *model) depths() []int {
	const least = 512
	list := []int{x.k}
	for p := 2; x.k/p >= least; p *= 2 {
		list = append(list, tile.Ceil(tile.Ceil(x.k, p), 64)*64)
	}
	return list
}
