package mosaic

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// Memory is tiled: the last two dimensions of an array are cut into tiles of some rows and 128
// columns, and a block is made of whole tiles or is as long as the array.
const (
	tileRows    = 8
	tileColumns = 128
)

// rowsOfTile is how many rows the tiles of an array have: eight, but where elements are narrow
// enough to share a register row, and the rows fill whole tiles, as many as a register holds.
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

// Memory is what a kernel's blocks and scratch take of VMEM.
type Memory struct {
	// Footprint counts blocks as the pipeline holds them: two of each array, the one at
	// work and the next, but one where every program sees the same block.
	Footprint int64
	// Least counts each block once: no compiler can do with less.
	Least int64
}

// MemoryOf counts what one program takes. The compiler adds what it spills: of scratch that
// is a value alone (held.go), which is counted, more or less as much as that.
func MemoryOf(p *tile.Program) Memory { return memoryOf(p, "") }

func memoryOf(p *tile.Program, without string) Memory {
	var m Memory
	for _, r := range p.Refs {
		if r.Kind == tile.Table || r.Main || r.Kind == tile.In && r.Name == without {
			continue // in the memory of the scalar unit, or outside
		}
		n := tiledBytes(r.Dtype, memoryShape(r))
		m.Footprint += n
		m.Least += n
		if moves(r) {
			m.Footprint += n
		}
	}
	return m
}

// moves reports whether programs may see different blocks of r.
func moves(r *tile.Ref) bool {
	return !tile.TableFree(r.Index...) || slices.ContainsFunc(tile.AxesIn(r.Index...), func(a *tile.Axis) bool { return a.Size > 1 })
}

// checkVMEM refuses what cannot fit. The operand named ahead, if any, is in VMEM beside what
// the limit is of, and has no blocks within it.
func (t Target) checkVMEM(p *tile.Program, limit int64, ahead string) error {
	m := memoryOf(p, ahead)
	switch {
	case m.Least > t.VMEMBytes:
		return t.tooBig(p, m.Least, t.VMEMBytes)
	case m.Footprint > limit && !t.mayKeep(p):
		return t.tooBig(p, m.Footprint, limit)
	}
	return nil
}

// mayKeep reports whether the compiler may move a whole array to VMEM, so that the kernel needs
// no window of it: on some generations it does so with any that is small, on all with those whose
// rows are no whole tiles and which it copies anyway.
func (t Target) mayKeep(p *tile.Program) bool {
	for _, r := range windowed(p) {
		array := mlir.Physical(r.Array)
		if (t.keeps || array[len(array)-1]%tileColumns != 0) && tiledBytes(r.Dtype, array) <= t.VMEMBytes {
			return true
		}
	}
	return false
}
