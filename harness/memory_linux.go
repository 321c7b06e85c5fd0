package harness

import (
	"os"
	"strconv"
	"strings"

	"matladder/internal/cgroup"
)

// hostMemory returns the bytes of main memory that this process can still take,
// 0 if unknown. The limits of its control groups count as well as the machine's; file
// pages that can be dropped count as free.
func hostMemory() int64 {
	free := available()
	if group, limited := cgroup.Memory(); limited && (free == 0 || group < free) {
		free = group
	}
	return free
}

// available is what the machine has left; 0 if it does not say.
func available() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kib, _ := strconv.ParseInt(f[1], 10, 53)
			return kib << 10
		}
	}
	return 0
}
