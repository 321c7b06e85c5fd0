package cpu

import (
	"os"
	"strconv"
	"strings"
)

// availableMemory is what can be allocated without swapping, in bytes, if the
// control group allows as much at all; 0 if the system does not say.
func availableMemory() int64 {
	free, limit := meminfo("MemAvailable:"), groupLimit()
	if free == 0 || limit == 0 {
		return max(free, limit)
	}
	return min(free, limit)
}

// groupLimit is what the control group allows, in bytes; 0 if it has no limit.
func groupLimit() int64 {
	data, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil { // "max"
		return 0
	}
	return limit
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
