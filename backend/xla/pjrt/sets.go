package pjrt

import (
	"cmp"
	"math/bits"

	"matladder/machine"
)

// On a GPU, launches one after another on the same arrays find in the L2 cache what the
// last one left there. To find all of them in HBM, launches take sets of arrays in turn, all
// with the same contents: so many sets that between two launches on the same set more bytes
// are read and written than the cache holds.

const (
	// inL2 is where launches on the same arrays find what fits there of them.
	inL2 = "l2"
	// flushed is how many times the cache's size is moved between two launches on the same
	// set: once is not enough, as a cache does not always evict the oldest line first.
	flushed = 2
	// mostSets bounds the sets: each is a launch of its own in the program.
	mostSets = 64
	// someL2Bytes stands for the cache of a GPU that is not in the chip table: twice the
	// largest there.
	someL2Bytes = 256e6
)

// setsOf is how many sets of arrays, of so many bytes each, launches on a GPU are to take in
// turn, a power of two. It is 0 where that would be too many sets, or more than half of the
// memory: such small arrays are found in the cache (column operands then says l2).
func setsOf(d machine.Device, bytes int64) int {
	if bytes <= 0 {
		return 0
	}
	between := uint64(flushed * cmp.Or(d.LastLevelCacheBytes.Value, someL2Bytes))
	sets := 1 << bits.Len64((between+uint64(bytes)-1)/uint64(bytes)) // the set itself, and those in between
	if memory := d.MemoryBytes; sets > mostSets || memory.Known() && float64(sets)*float64(bytes) > memory.Value/2 {
		return 0
	}
	return sets
}
