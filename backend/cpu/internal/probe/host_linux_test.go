package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestHost_Sysfs compares with what Linux found out by itself.
func TestHost_Sysfs(t *testing.T) {
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Skipf("not compared: %v", err)
		}
		return strings.TrimSpace(string(b))
	}
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	if len(dirs) == 0 {
		t.Skip("not compared: no caches in /sys/devices/system/cpu/cpu0")
	}
	h := Host()
	got := map[string]int{"1": h.L1D, "2": h.L2, "3": h.L3}
	for _, dir := range dirs {
		if read(dir+"/type") == "Instruction" {
			continue
		}
		level, size := read(dir+"/level"), read(dir+"/size")
		kib, err := strconv.Atoi(strings.TrimSuffix(size, "K"))
		if err != nil {
			t.Fatalf("%s/size: %v", dir, err)
		}
		if got[level] != kib<<10 {
			t.Errorf("L%s of %d bytes, sysfs says %s", level, got[level], size)
		}
	}
}
