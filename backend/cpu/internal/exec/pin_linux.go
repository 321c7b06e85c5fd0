package exec

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Processors are those that this process may use, the first of each core ahead of its
// siblings, with which it shares what computes. They are what they were at the first call,
// when no thread was bound yet.
var Processors = sync.OnceValues(func() ([]int, error) {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &may); err != nil {
		return nil, err
	}
	var list []int
	for cpu := range 64 * len(may) {
		if may.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	seen, rank := map[string]int{}, map[int]int{}
	for _, cpu := range list {
		text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if core := strings.TrimSpace(string(text)); err == nil && core != "" {
			rank[cpu] = seen[core]
			seen[core]++
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	return list, nil
})

// bindThread binds the calling thread to a processor.
func bindThread(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("bind a thread to processor %d: %w", cpu, err)
	}
	return nil
}

// freeThread lets the calling thread run on all of them.
func freeThread(cpus []int) error {
	var all unix.CPUSet
	for _, cpu := range cpus {
		all.Set(cpu)
	}
	return unix.SchedSetaffinity(0, &all)
}
