package cpu

import (
	"os"
	"strconv"
	"strings"

	"matladder/internal/cgroup"
)

// availableMemory is what can be allocated without swapping, in bytes, as far as the
// control groups allow; 0 if the system does not say.
func availableMemory() int64 {
	free := meminfo("MemAvailable:")
	if group, limited := cgroup.Memory(); limited && (free == 0 || group < free) {
		free = group
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
