//go:build linux && cgo

package pjrt

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// confine leaves this process n of the cores it may run on. XLA makes as many threads as it finds
// cores, and has no other setting for it. It is no error if there are fewer.
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
	const passes = 100
	for range passes { // a thread may start another before its turn has come
		changed, err := confineThreads(&some)
		if err != nil {
			return fmt.Errorf("pjrt: %d threads: %w", n, err)
		}
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("pjrt: %d threads: the process keeps starting others", n)
}

// confineThreads leaves all threads of this process some cores, which threads to
// come inherit, and reports whether any had others.
func confineThreads(some *unix.CPUSet) (changed bool, err error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false, err
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		var has unix.CPUSet
		if err = unix.SchedGetaffinity(id, &has); err == nil && has != *some {
			changed = true
			err = unix.SchedSetaffinity(id, some)
		}
		if err != nil && err != unix.ESRCH { // it has ended
			return false, err
		}
	}
	return changed, nil
}
