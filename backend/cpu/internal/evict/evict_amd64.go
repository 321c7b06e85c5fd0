package evict

// flush puts the lines of memory out of the caches. It equals doing nothing, but for time.
//
//go:noescape
func flush(memory []byte)

// Part puts a part of memory, the member'th of so many, out of the caches. All members call
// it at about the same time, each on a thread that may have used the memory.
func Part(memory []byte, member, of int) { flush(share(memory, member, of)) }
