package cpu

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// asksForHugePages says that adviseHuge does something.
const asksForHugePages = true

// adviseHuge asks for large pages, which spare most misses of the translation
// buffer. It is a wish: without them all works, slower.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// availableMemory is what can be allocated without swapping, in bytes, if the
// control group allows as much at all; 0 if the system does not say.
func availableMemory() int64 {
	free := meminfo("MemAvailable:")
	data, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return free
	}
	if limit, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil { // else "max"
		free = min(free, limit)
	}
	return free
}

// totalMemory is the memory of the machine in bytes; 0 if unknown.
func totalMemory() int64 { return meminfo("MemTotal:") }

func meminfo(name string) int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == name && f[2] == "kB" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}
