//go:build linux && cgo

package pjrt

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// confine leaves this process n of the cores it may run on. XLA makes as many
// threads as it finds cores, and has no other setting for it. It is no error if
// there are fewer.
func confine(n int) error {
	var may, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return fmt.Errorf("pjrt: cores of this process: %w", err)
	}
	for core := 0; core < 64*len(may) && some.Count() < n; core++ {
		if may.IsSet(core) {
			some.Set(core)
		}
	}
	tasks, err := os.ReadDir("/proc/self/task") // threads to come inherit it from these
	if err != nil {
		return fmt.Errorf("pjrt: threads of this process: %w", err)
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(id, &some); err != nil && err != unix.ESRCH {
			return fmt.Errorf("pjrt: %d threads: %w", n, err)
		}
	}
	return nil
}
