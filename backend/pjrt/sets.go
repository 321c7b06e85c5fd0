package pjrt

import (
	"cmp"
	"math/bits"

	"matladder/chips"
)

// On a GPU, launches one after another on the same arrays find in the L2 cache what the
// last one left there. To find all in HBM they take sets of arrays in turn, alike in what
// they hold, so many that what is launched between two that take the same set goes
// through the cache more than once.

const (
	// inL2 is where launches on the same arrays find what fits there of them.
	inL2 = "l2"
	// flushed is how often what is launched in between fills the cache, which does not
	// always leave the oldest first.
	flushed = 2
	// mostSets bounds the sets: each is a launch of its own in the program.
	mostSets = 64
	// someL2Bytes stands for the cache of a GPU that is not in the chip table: twice the
	// largest there.
	someL2Bytes = 256e6
)

// setsOf is how many sets of arrays of so many bytes together, a power of two, launches on
// a GPU are to take in turn; 0 where that would be too many of them, or too large: what is
// that small no launches can be kept from finding in the cache, short of emptying it.
func setsOf(d chips.Device, bytes int64) int {
	if bytes <= 0 {
		return 0
	}
	between := uint64(flushed * cmp.Or(d.LastLevelCacheBytes.Value, someL2Bytes))
	sets := 1 << bits.Len64((between+uint64(bytes)-1)/uint64(bytes)) // more than those in between
	if memory := d.MemoryBytes; sets > mostSets || memory.Known() && float64(sets)*float64(bytes) > memory.Value/2 {
		return 0
	}
	return sets
}
