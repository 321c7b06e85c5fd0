package harness

import (
	"os"
	"strconv"
	"strings"
)

// hostMemory returns the bytes of main memory that this process can still take,
// 0 if unknown. A container's limit counts as well as the machine's; file pages
// that can be dropped count as free.
func hostMemory() int64 {
	kb, ok := readField("/proc/meminfo", "MemAvailable:")
	if !ok {
		return 0
	}
	free := kb << 10
	for _, g := range []struct{ limit, used, stat, cache string }{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
			"/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"},
	} {
		limit, limited := readField(g.limit, "")
		used, known := readField(g.used, "")
		if limited && known {
			cache, _ := readField(g.stat, g.cache)
			free = min(free, max(1, limit-used+cache))
		}
	}
	return free
}

// readField returns the number after the word name at the start of a line of the
// file, the first number if name is empty, false if there is none ("max").
func readField(path, name string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if name != "" && (len(f) == 0 || f[0] != name) {
			continue
		}
		if name != "" {
			f = f[1:]
		}
		if len(f) == 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(f[0], 10, 53)
		return n, err == nil
	}
	return 0, false
}
