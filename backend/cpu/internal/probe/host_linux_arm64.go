package probe

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ask reads what Linux publishes of the first processor.
func ask() HostInfo {
	const cpu0 = "/sys/devices/system/cpu/cpu0/"
	var h HostInfo
	h.Name = firstLine("/proc/device-tree/model")
	if siblings := siblings(firstLine(cpu0 + "topology/thread_siblings_list")); siblings > 0 {
		h.Cores = max(1, runtime.NumCPU()/siblings)
	}
	caches, _ := filepath.Glob(cpu0 + "cache/index*")
	for _, dir := range caches {
		if firstLine(dir+"/type") == "Instruction" {
			continue
		}
		bytes := cacheBytes(firstLine(dir + "/size"))
		switch firstLine(dir + "/level") {
		case "1":
			h.L1D = bytes
		case "2":
			h.L2 = bytes
		case "3":
			h.L3, h.Sharing = bytes, siblings(firstLine(dir+"/shared_cpu_list"))
		}
	}
	return h
}

// siblings counts the processors of a list such as "0-1" or "0,64".
func siblings(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			return 0
		}
		if !isRange {
			n++
			continue
		}
		b, err := strconv.Atoi(to)
		if err != nil || b < a {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// cacheBytes reads sizes such as "512K".
func cacheBytes(s string) int {
	digits, unit := strings.TrimRight(s, "KMG"), 0
	switch strings.TrimLeft(s, "0123456789") {
	case "K":
		unit = 10
	case "M":
		unit = 20
	case "G":
		unit = 30
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n << unit
}

// firstLine is the first line of a small file, empty where there is none.
func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimRight(string(b), "\x00"), "\n")
	return strings.TrimSpace(line)
}
