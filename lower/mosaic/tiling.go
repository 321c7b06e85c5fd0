package mosaic

import (
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// Memory is tiled: the last two dimensions of an array are cut into tiles of
// some rows and 128 columns, and a block is made of whole tiles or is as long as
// the array.
const (
	tileRows    = 8
	tileColumns = 128
)

// rowsOfTile is how many rows the tiles of an array have: eight, but where
// elements are narrow enough to share a register row, and the rows fill whole
// tiles, as many as a register holds.
func rowsOfTile(d tile.Dtype, rows int) int {
	if full := tileRows * 32 / d.Bits(); d.Bits() <= 8 && rows%full == 0 {
		return full
	}
	return tileRows
}

// checkTiling refuses blocks that are not made of whole tiles.
func checkTiling(p *tile.Program) error {
	for _, r := range windowed(p) {
		array, block := mlir.Physical(r.Array), memoryShape(r)
		for back, unit := range []int{tileColumns, rowsOfTile(r.Dtype, array[len(array)-2])} {
			d := len(array) - 1 - back
			if block[d]%unit == 0 || block[d] == array[d] {
				continue
			}
			which := []string{"last", "second to last"}[back]
			return unsupported(r.Pos, p, "block", r.Name, "%d of the %d elements along the %s dimension of a %s array: memory is tiled, take a multiple of %d, or all",
				block[d], array[d], which, r.Dtype, unit)
		}
	}
	return nil
}

// tiledBytes is what a block takes in VMEM: whole tiles. A block of fewer than
// eight rows has smaller tiles, down to those of one register row.
func tiledBytes(d tile.Dtype, dims []int) int64 {
	rows, columns := dims[len(dims)-2], dims[len(dims)-1]
	unit := tileRows
	for packed := 32 / d.Bits(); unit/2 >= max(rows, packed); {
		unit /= 2
	}
	n := tile.Elements(dims[:len(dims)-2])
	n *= int64(tile.Ceil(rows, unit) * unit)
	n *= int64(tile.Ceil(columns, tileColumns) * tileColumns)
	return d.Bytes(n)
}
