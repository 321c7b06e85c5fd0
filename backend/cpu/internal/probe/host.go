package probe

import (
	"cmp"
	"runtime"
	"sync"
)

// HostInfo is what the processor says of itself. A virtual machine may say
// what its host allows, not what is true.
type HostInfo struct {
	Name    string
	Cores   int // physical, of those this process may use
	Threads int // logical processors this process may use
	L1D     int // bytes of data cache of one core
	L2      int // bytes of the L2 cache one core sees
	L3      int // bytes of the last-level cache one core sees
	Sharing int // logical processors that share it; 0 if unknown
}

// L2OrUsual is the bytes of the L2 cache, of a machine that does not tell 512 KiB.
func (h HostInfo) L2OrUsual() int { return cmp.Or(h.L2, 512<<10) }

// Host asks once and remembers.
var Host = sync.OnceValue(func() HostInfo {
	h := ask()
	h.Threads = runtime.NumCPU()
	if h.Cores == 0 || h.Cores > h.Threads {
		h.Cores = h.Threads
	}
	return h
})
