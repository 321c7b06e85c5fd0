package exec

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPin_Bound: each member of a pool is on a processor of its own, and the caller's thread
// is free again afterwards.
func TestPin_Bound(t *testing.T) {
	cpus, err := Processors()
	if err != nil || len(cpus) < 2 {
		t.Skipf("%d processors, %v", len(cpus), err)
	}
	pool := NewPool(len(cpus))
	defer pool.Close()
	e := &Executable{Pool: pool, Options: Options{Pinned: true}}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		free, err := e.pin()
		if err != nil {
			t.Fatal(err)
		}
		on := make([]unix.CPUSet, len(cpus))
		if err := pool.Run(func(member int) { unix.SchedGetaffinity(0, &on[member]) }); err != nil {
			t.Fatal(err)
		}
		for member, set := range on {
			if set.Count() != 1 || !set.IsSet(cpus[member]) {
				t.Errorf("member %d may run on %d processors, want on %d", member, set.Count(), cpus[member])
			}
		}
		free()
		if unix.SchedGetaffinity(0, &after); after != before {
			t.Errorf("the caller's thread stays bound to %d processors", after.Count())
		}
	}
}
