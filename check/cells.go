package check

import (
	"context"

	"matladder/problem"
	"matladder/tile"
)

// cellSide is the side of the squares of the output in each of which one element is
// computed: no larger than a block of a kernel that is worth measuring.
const cellSide = 64

// cells are elements of one row of the output.
type cells struct {
	row  int
	cols []int // ascending
	at   int   // of the first in values
}

// sampleCells draws one element of each square: those of a band of squares are in one
// row.
func sampleCells(p problem.Matmul, salt uint64) []cells {
	seed := hash("cells"+p.String()) ^ salt
	draw := func(band, i, n int) int { // one of the i-th of the sides that n has
		lo := i * cellSide
		return lo + int(mix(mix(seed+uint64(band))+uint64(i))%uint64(min(cellSide, n-lo)))
	}
	list, across := make([]cells, tile.Ceil(p.M, cellSide)), tile.Ceil(p.N, cellSide)
	for i := range list {
		list[i] = cells{draw(0, i, p.M), make([]int, across), i * across}
		for j := range across {
			list[i].cols[j] = draw(1+i, j, p.N)
		}
	}
	return list
}

// cellValues returns the cells of a sum cut every step elements of k.
func (r *Reference) cellValues(ctx context.Context, ops operands, step int) (*rowValues, error) {
	if v := r.apart[step]; v != nil || len(r.cells) == 0 {
		return v, nil
	}
	across := len(r.cells[0].cols)
	v, rows := newRowValues(len(r.cells)*across), make([]int, len(r.cells))
	for i, c := range r.cells {
		rows[i] = c.row
	}
	avals, doubts := ops.rowsOfA(rows)
	err := parallel(ctx, across, func(lo, hi int) {
		from, to := lo*cellSide, min(hi*cellSide, r.p.N)
		b, size := make([]float64, to-from), make([]float64, to-from)
		some, sizes := make([]float64, hi-lo), make([]float64, hi-lo)
		for k := 0; k < r.p.K && ctx.Err() == nil; k++ {
			ops.rowOfB(b, size, k, from)
			for i, c := range r.cells {
				for j, col := range c.cols[lo:hi] {
					some[j], sizes[j] = b[col-from], size[col-from]
				}
				v.add(c.at+lo, avals[i][k], doubts[i][k], some, sizes, (k+1)%step == 0 || k+1 == r.p.K)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	r.apart[step] = v
	return v, nil
}
