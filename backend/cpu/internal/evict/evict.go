// Package evict puts memory out of the caches of all cores.
//
// Where the processor has an instruction for it that programs may use (amd64: CLFLUSH), the
// lines of the memory itself leave, from every cache of every core, and are written back.
// Elsewhere each thread that may have them in caches of its own reads so much else that
// nothing of them should be left: large caches whose replacement is no queue may keep some.
package evict

import "sync"

// share is the member'th of so many parts, which begins and ends with a cache line of its own
// where the memory is longer than that.
func share(memory []byte, member, of int) []byte {
	const line = 64
	lines := (len(memory) + line - 1) / line
	from, to := lines*member/of*line, min(lines*(member+1)/of*line, len(memory))
	return memory[min(from, to):to]
}

// others is memory to read in place of what is to leave: more than caches of today hold.
var others = sync.OnceValue(func() []byte {
	b := make([]byte, 256<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
})

// readOthers passes over others. The sum is returned so that no reader is left out.
func readOthers() (sum byte) {
	b := others()
	for i := 0; i < len(b); i += 64 {
		sum += b[i]
	}
	return sum
}
