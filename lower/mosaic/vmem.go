package mosaic

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

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

// mayKeep reports whether the compiler may move a whole array to VMEM, so that
// the kernel needs no window of it: on some generations it does so with any that
// is small, on all with those whose rows are no whole tiles and which it copies
// anyway.
func (t Target) mayKeep(p *tile.Program) bool {
	for _, r := range windowed(p) {
		array := mlir.Physical(r.Array)
		if (t.keeps || array[len(array)-1]%tileColumns != 0) && tiledBytes(r.Dtype, array) <= t.VMEMBytes {
			return true
		}
	}
	return false
}
